package wire

import "encoding/json"

// Reply is what every JSON host function answers: exactly one of the two fields is set.
type Reply struct {
	OK    json.RawMessage `json:"ok,omitempty"`
	Error *Error          `json:"error,omitempty"`
}

// BlobRef names bytes that the host keeps for one call. In JSON it is {"$blob": id, "size": bytes}.
// Ids begin at 1 and mean nothing outside the call.
type BlobRef struct {
	ID   int64 `json:"$blob"`
	Size int64 `json:"size"`
}

// Artifact is the public entry of a stored artifact, as it stands in an envelope's artifacts array.
type Artifact struct {
	Key         string `json:"key"`          // <pack_name>/<random>-<name>.<ext>
	URL         string `json:"url"`          // signed, valid 15 minutes
	Size        int64  `json:"size"`         // bytes
	ContentType string `json:"content_type"` // MIME type
	CreatedAt   string `json:"created_at"`   // RFC 3339
	Pack        string `json:"pack,omitempty"`
}

// ArtifactPut is the request of artifact_put; the answer is an Artifact. Exactly one of Text and Blob is the body.
// The key becomes <pack_name>/<random>-<slug of Name>; Name keeps its extension.
type ArtifactPut struct {
	Name        string   `json:"name"`
	ContentType string   `json:"content_type,omitempty"` // empty: by the extension, else by the bytes
	Text        *string  `json:"text,omitempty"`
	Blob        *BlobRef `json:"blob,omitempty"`
}

// ArtifactGet is the request of artifact_get; the answer is an ArtifactContent.
type ArtifactGet struct {
	Key string `json:"key"`
}

// ArtifactContent is an artifact's entry with its bytes as a blob.
type ArtifactContent struct {
	Entry Artifact `json:"entry"`
	Blob  BlobRef  `json:"blob"`
}

// ArtifactList is the request of artifact_list; the answer is an ArtifactPage. Newest first.
type ArtifactList struct {
	Pack   string `json:"pack,omitempty"`
	Limit  int    `json:"limit,omitempty"` // 1 to 1000, default 100
	Cursor string `json:"cursor,omitempty"`
}

// ArtifactPage is one page of the caller's artifacts.
type ArtifactPage struct {
	Artifacts  []Artifact `json:"artifacts"`
	NextCursor string     `json:"next_cursor,omitempty"`
}

// Memory is one thing that a caller asked to be remembered.
type Memory struct {
	Category  string          `json:"category"`
	Key       string          `json:"key"`
	Value     json.RawMessage `json:"value"`
	StoredAt  string          `json:"stored_at,omitempty"`  // RFC 3339, set by the host
	ExpiresAt string          `json:"expires_at,omitempty"` // RFC 3339, set by the host
}

// MemoryPut is the request of memory_put; the answer is a Memory. TTLSeconds 0 keeps it for ever.
type MemoryPut struct {
	Category   string          `json:"category"`
	Key        string          `json:"key"`
	Value      json.RawMessage `json:"value"`
	TTLSeconds int64           `json:"ttl_seconds,omitempty"`
}

// MemoryKey is the request of memory_get (answer: Memory or null), memory_delete (answer: {"deleted": n}) and
// memory_list (answer: {"memories": [Memory]}); for the latter two an empty Key means the whole category.
type MemoryKey struct {
	Category string `json:"category"`
	Key      string `json:"key,omitempty"`
}

// MemoryPage is the answer of memory_list.
type MemoryPage struct {
	Memories []Memory `json:"memories"`
}

// Deleted is the answer of memory_delete.
type Deleted struct {
	Deleted int `json:"deleted"`
}

// Plan is a saved plan: what the caller wants and the steps it means to take.
type Plan struct {
	Intent string            `json:"intent"`
	Steps  []json.RawMessage `json:"steps"`
}

// PlanSaved is the answer of plan_put: the plan's identity (hex SHA-256 of the intent).
type PlanSaved struct {
	IntentSHA string `json:"intent_sha"`
}

// Progress is the request of progress; the answer is {}.
type Progress struct {
	Percent float64 `json:"percent"` // 0 to 100
	Message string  `json:"message,omitempty"`
}
