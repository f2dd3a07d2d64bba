package store

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// Bucket is the part of a store that one package owns: keys below a prefix, JSON values of one type. No bucket's name may
// begin with another's name and a slash.
type Bucket[T any] struct {
	prefix string
}

// NewBucket names a bucket; its keys are name/id. A slash at the end of name is the one in between.
func NewBucket[T any](name string) Bucket[T] {
	return Bucket[T]{prefix: strings.TrimSuffix(name, "/") + "/"}
}

// Prefix begins every key of the bucket, for [Store.Watch].
func (b Bucket[T]) Prefix() []byte { return []byte(b.prefix) }

// Key is the key of an id.
func (b Bucket[T]) Key(id string) []byte { return []byte(b.prefix + id) }

// Get reads one value; ErrNotFound if there is none.
func (b Bucket[T]) Get(r R, id string) (T, error) {
	var v T
	raw, err := r.Get(b.Key(id))
	if err != nil {
		return v, err
	}
	return b.decode(raw)
}

// Put writes one value; a ttl of 0 keeps it for ever.
func (b Bucket[T]) Put(rw RW, id string, v T, ttl time.Duration) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("store: encoding for %s: %w", b.prefix, err)
	}
	return rw.Put(b.Key(id), raw, ttl)
}

// Delete removes one value; an absent one is no error.
func (b Bucket[T]) Delete(rw RW, id string) error { return rw.Delete(b.Key(id)) }

// Scan walks the values in the order of their ids, starting at the id from ("": at the edge), until fn returns false or
// the limit is reached. A KeysOnly scan gives the zero value.
func (b Bucket[T]) Scan(r R, from string, s ScanOptions, fn func(id string, v T) (more bool, err error)) error {
	var start []byte
	if from != "" {
		start = b.Key(from)
	}
	return r.Scan(b.Prefix(), start, s, func(k, raw []byte) (bool, error) {
		var v T
		if !s.KeysOnly {
			var err error
			if v, err = b.decode(raw); err != nil {
				return false, err
			}
		}
		return fn(string(k[len(b.prefix):]), v)
	})
}

func (b Bucket[T]) decode(raw []byte) (v T, err error) {
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, fmt.Errorf("store: decoding from %s: %w", b.prefix, err)
	}
	return v, nil
}
