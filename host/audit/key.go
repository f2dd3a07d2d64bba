package audit

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

// A row lies under its id, so the rows are in the order of their time. For each facet that has a value, an empty index
// key leads to the row:
//
//	audit/row/<id>
//	audit/by/<facet><8 bytes of the value's hash><id><4 bytes of each facet's hash>
//
// Hashes make names of any length and content into parts that can't run into each other. The short ones at the end tell
// without reading the row that it won't fit the rest of a filter; what they let through is compared with the row.
const (
	rowPrefix   = "audit/row/"
	indexPrefix = "audit/by/"
	hashSize    = 8
	printSize   = 4
	idSize      = len(uuid.UUID{})
)

// facet is a field that rows are found by.
type facet int

const (
	bySubject facet = iota
	byPack
	byStatus
	facetCount
)

// facets are a row's, or a filter's, values by facet.
type facets [facetCount]string

func (r Row) facets() facets { return facets{bySubject: r.Subject, byPack: r.Pack, byStatus: r.Status} }
func (f Filter) facets() facets {
	return facets{bySubject: f.Subject, byPack: f.Pack, byStatus: f.Status}
}

func hash(value string) []byte {
	sum := sha256.Sum256([]byte(value))
	return sum[:hashSize]
}

func rowKey(id uuid.UUID) []byte { return append([]byte(rowPrefix), id[:]...) }

// under is the prefix of the index keys of one value.
func (f facet) under(value string) []byte {
	return append(append([]byte(indexPrefix), byte('0'+f)), hash(value)...)
}

// indexKeys are all index keys of a row.
func indexKeys(id uuid.UUID, r Row) [][]byte {
	values := r.facets()
	var prints []byte
	for _, v := range values {
		prints = append(prints, hash(v)[:printSize]...)
	}
	var keys [][]byte
	for f, v := range values {
		if v != "" {
			keys = append(keys, append(append(facet(f).under(v), id[:]...), prints...))
		}
	}
	return keys
}

// prints are the ends of index keys that a filter lets through; an empty part lets everything through.
type prints [facetCount]string

func printsOf(f Filter) (p prints) {
	for i, v := range f.facets() {
		if v != "" {
			p[i] = string(hash(v)[:printSize])
		}
	}
	return p
}

func (p prints) fit(end []byte) bool {
	for i, want := range p {
		if want != "" && string(end[i*printSize:(i+1)*printSize]) != want {
			return false
		}
	}
	return true
}
