package artifact

import (
	"context"
	"io"
	"time"
)

// Blobs is where the bytes lie: a folder or an S3 bucket. It knows names and bytes alone; whose they are, how long they are
// kept and who may follow a link is the Store's. A name is the hash of an artifact's key in hex, and is written once.
//
// A caller's link is always the Store's own signed URL, and the bytes pass through the service. A URL that S3 has signed would
// need a bucket that callers can reach, and would go round the owner rules and the headers that keep HTML and SVG inert.
type Blobs interface {
	// Put stores the whole body for good before it returns. An error of body comes back as it is. Nothing readable is left of
	// a Put that failed, and what else is left goes with a Sweep.
	Put(ctx context.Context, name, contentType string, body io.Reader) error
	// Open gives the bytes, or an error that is fs.ErrNotExist. Reading ends with ctx.
	Open(ctx context.Context, name string) (io.ReadSeekCloser, error)
	// Remove is content when there is nothing to remove.
	Remove(ctx context.Context, name string) error
	// Sweep removes what was last written before a time, whole or cut off, and is dead. What is none of ours stays.
	Sweep(ctx context.Context, before time.Time, dead func(name string) (bool, error)) error
}
