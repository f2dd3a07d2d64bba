//go:build !wasip1

package pdk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func artifactPut(block uint64) uint64    { return serve(block, (*Host).putArtifact) }
func artifactGet(block uint64) uint64    { return serve(block, (*Host).getArtifact) }
func artifactList(block uint64) uint64   { return serve(block, (*Host).listArtifacts) }
func memoryPut(block uint64) uint64      { return serve(block, (*Host).putMemory) }
func memoryGet(block uint64) uint64      { return serve(block, (*Host).getMemory) }
func memoryList(block uint64) uint64     { return serve(block, (*Host).listMemory) }
func memoryDelete(block uint64) uint64   { return serve(block, (*Host).deleteMemory) }
func planPut(block uint64) uint64        { return serve(block, (*Host).putPlan) }
func progress(block uint64) uint64       { return serve(block, (*Host).tellProgress) }
func httpSend(block uint64) uint64       { return serve(block, (*Host).sendHTTP) }
func vaultSign(block uint64) uint64      { return serve(block, (*Host).sign) }
func vaultLook(block uint64) uint64      { return serve(block, (*Host).look) }
func blobRead(id, from, n uint64) uint64 { return native.Load().readBlob(id, from, n) }
func blobWrite(id, block uint64) uint64  { return native.Load().writeBlob(id, block) }

func (h *Host) putArtifact(p wire.ArtifactPut) (wire.Artifact, error) {
	if p.Name == "" || (p.Text == nil) == (p.Blob == nil) {
		return wire.Artifact{}, wire.Invalid("an artifact needs a name and exactly one of text and blob")
	}
	var body []byte
	if p.Text != nil {
		body = []byte(*p.Text)
	} else {
		kept, ok := h.blobs[uint64(p.Blob.ID)]
		if !ok {
			return wire.Artifact{}, wire.Invalid("no blob %d in this call", p.Blob.ID)
		}
		body = kept
	}
	if p.ContentType == "" {
		p.ContentType = mime.TypeByExtension(path.Ext(p.Name))
	}
	key := fmt.Sprintf("native/%06d-%s", len(h.artifacts)+1, p.Name)
	a := wire.Artifact{
		Key: key, URL: "native:" + key, Size: int64(len(body)), ContentType: p.ContentType,
		CreatedAt: time.Now().UTC().Format(time.RFC3339),
	}
	h.artifacts = append(h.artifacts, nativeArtifact{a, body})
	return a, nil
}

func (h *Host) artifact(key string) (nativeArtifact, bool) {
	i := slices.IndexFunc(h.artifacts, func(a nativeArtifact) bool { return a.entry.Key == key })
	if i < 0 {
		return nativeArtifact{}, false
	}
	return h.artifacts[i], true
}

func (h *Host) getArtifact(g wire.ArtifactGet) (wire.ArtifactContent, error) {
	a, ok := h.artifact(g.Key)
	if !ok {
		return wire.ArtifactContent{}, wire.Errorf(wire.ArtifactNotFound, "no artifact %s", g.Key)
	}
	return wire.ArtifactContent{Entry: a.entry, Blob: wire.BlobRef{ID: int64(h.keep(a.body)), Size: int64(len(a.body))}}, nil
}

// listArtifacts answers everything at once: natively a cursor never comes up.
func (h *Host) listArtifacts(l wire.ArtifactList) (wire.ArtifactPage, error) {
	page := wire.ArtifactPage{Artifacts: []wire.Artifact{}}
	for _, a := range slices.Backward(h.artifacts) {
		if (l.Pack == "" || l.Pack == a.entry.Pack) && (l.Limit == 0 || len(page.Artifacts) < l.Limit) {
			page.Artifacts = append(page.Artifacts, a.entry)
		}
	}
	return page, nil
}

func (h *Host) putMemory(p wire.MemoryPut) (wire.Memory, error) {
	now := time.Now().UTC()
	m := wire.Memory{Category: p.Category, Key: p.Key, Value: p.Value, StoredAt: now.Format(time.RFC3339)}
	if p.TTLSeconds > 0 {
		m.ExpiresAt = now.Add(time.Duration(p.TTLSeconds) * time.Second).Format(time.RFC3339)
	}
	h.memories[wire.MemoryKey{Category: p.Category, Key: p.Key}] = m
	return m, nil
}

func (h *Host) getMemory(k wire.MemoryKey) (*wire.Memory, error) {
	if m, ok := h.memories[k]; ok {
		return &m, nil
	}
	return nil, nil
}

func (h *Host) listMemory(k wire.MemoryKey) (wire.MemoryPage, error) {
	page := wire.MemoryPage{Memories: []wire.Memory{}}
	for at, m := range h.memories {
		if at.Category == k.Category {
			page.Memories = append(page.Memories, m)
		}
	}
	slices.SortFunc(page.Memories, func(a, b wire.Memory) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return page, nil
}

func (h *Host) deleteMemory(k wire.MemoryKey) (wire.Deleted, error) {
	var d wire.Deleted
	for at := range h.memories {
		if at.Category == k.Category && (k.Key == "" || at.Key == k.Key) {
			delete(h.memories, at)
			d.Deleted++
		}
	}
	return d, nil
}

func (h *Host) putPlan(p wire.Plan) (wire.PlanSaved, error) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(p.Intent)))
	return wire.PlanSaved{IntentSHA: hex.EncodeToString(sum[:])}, nil
}

func (h *Host) tellProgress(p wire.Progress) (struct{}, error) {
	h.told = append(h.told, p)
	return struct{}{}, nil
}

// keep makes a blob of data, as the host does with a base64 field of an input.
func (h *Host) keep(data []byte) uint64 {
	h.lastBlob++
	h.blobs[h.lastBlob] = data
	return h.lastBlob
}

func (h *Host) readBlob(id, from, n uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	data := h.blobs[id]
	if from >= uint64(len(data)) {
		return 0
	}
	data = data[from:]
	return h.store(data[:min(n, uint64(len(data)))])
}

func (h *Host) writeBlob(id, block uint64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	data := h.blocks[block]
	if id == 0 {
		return h.keep(data)
	}
	if _, ok := h.blobs[id]; !ok {
		return 0
	}
	h.blobs[id] = append(h.blobs[id], data...)
	return id
}
