package pdk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"reflect"

	"github.com/gantry-packs/gantry/pdk/wire"
)

const (
	// chunk is how much of a blob crosses the wall at once, in bytes.
	chunk = 1 << 20
	// maxBlob is more than a host keeps for one call: a handle that claims more is not believed.
	maxBlob = 96 << 20
)

// Blob is bytes that may stay outside of the module's memory: a handle to what the host keeps for this call, or bytes that
// the pack made. A field whose schema says contentEncoding base64 arrives as a handle, and a Blob in the output leaves as
// base64. Plain base64 text is read too. The zero Blob is no blob; use omitzero to leave it out of an output.
type Blob struct {
	ref  wire.BlobRef
	data []byte
}

// NewBlob makes a blob of data, which must not change afterwards.
func NewBlob(data []byte) Blob {
	if data == nil {
		data = []byte{}
	}
	return Blob{data: data}
}

// IsZero says whether there is no blob at all; an empty one is not zero.
func (b Blob) IsZero() bool { return b.ref.ID == 0 && b.data == nil }

// Size is the length in bytes.
func (b Blob) Size() int64 {
	if b.ref.ID != 0 {
		return b.ref.Size
	}
	return int64(len(b.data))
}

// Bytes copies the whole blob into the module's memory. The result must not be changed.
func (b Blob) Bytes() ([]byte, error) {
	if b.ref.ID == 0 {
		return b.data, nil
	}
	if b.ref.Size < 0 || b.ref.Size > maxBlob {
		return nil, wire.Invalid("no such blob in this call")
	}
	var data []byte
	for r := (&blobReader{id: b.ref.ID}); int64(len(data)) < b.ref.Size; {
		part := r.next(chunk)
		if len(part) == 0 {
			return nil, wire.Invalid("no such blob in this call, or one shorter than it claims")
		}
		if data == nil {
			data = make([]byte, 0, b.ref.Size) // only now: a made-up handle must not cost its claimed size
		}
		data = append(data, part...)
	}
	return data, nil
}

// Reader reads the blob a chunk at a time, for values larger than the module's memory.
func (b Blob) Reader() io.Reader {
	if b.ref.ID == 0 {
		return bytes.NewReader(b.data)
	}
	return &blobReader{id: b.ref.ID}
}

type blobReader struct {
	id     int64
	offset int64
}

func (r *blobReader) next(n int) []byte {
	part := takeBlock(blobRead(uint64(r.id), uint64(r.offset), uint64(n)))
	r.offset += int64(len(part))
	return part
}

func (r *blobReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	part := r.next(min(len(p), chunk))
	if len(part) == 0 {
		return 0, io.EOF
	}
	return copy(p, part), nil
}

// handle gives the bytes to the host, unless it has them, and returns their handle.
func (b Blob) handle() (wire.BlobRef, error) {
	if b.ref.ID != 0 {
		return b.ref, nil
	}
	var id uint64
	for rest := b.data; ; {
		n := min(len(rest), chunk)
		var block uint64 // 0 stands for no bytes
		if n > 0 {
			if block = storeBlock(rest[:n]); block == 0 {
				return wire.BlobRef{}, errNoMemory
			}
		}
		id = blobWrite(id, block)
		if block != 0 {
			freeBlock(block)
		}
		if id == 0 {
			return wire.BlobRef{}, wire.Failed("the call keeps more bytes than the host allows")
		}
		if rest = rest[n:]; len(rest) == 0 {
			return wire.BlobRef{ID: int64(id), Size: int64(len(b.data))}, nil
		}
	}
}

// Ref gives the bytes to the host, unless it has them, and returns what a request to the host names them by. The zero Blob is
// nil.
func (b Blob) Ref() (*wire.BlobRef, error) {
	if b.IsZero() {
		return nil, nil
	}
	ref, err := b.handle()
	if err != nil {
		return nil, err
	}
	return &ref, nil
}

// BlobOf is the blob that the host's answer names; nil is the zero Blob.
func BlobOf(ref *wire.BlobRef) Blob {
	if ref == nil {
		return Blob{}
	}
	return Blob{ref: *ref}
}

// MarshalJSON writes the handle; the host turns it into base64. A zero Blob is null.
func (b Blob) MarshalJSON() ([]byte, error) {
	if b.IsZero() {
		return []byte("null"), nil
	}
	ref, err := b.handle()
	if err != nil {
		return nil, err
	}
	return json.Marshal(ref)
}

// UnmarshalJSON reads a handle or base64 text; null leaves the blob as it is.
func (b *Blob) UnmarshalJSON(raw []byte) error {
	switch {
	case string(raw) == "null":
		return nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return blobTypeError("a string of other characters")
		}
		*b = NewBlob(data)
		return nil
	}
	var ref wire.BlobRef
	err := json.Unmarshal(raw, &ref)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field == "" {
		return blobTypeError(wrong.Value)
	}
	if err != nil || ref.ID < 1 || ref.Size < 0 {
		return blobTypeError("an object")
	}
	*b = Blob{ref: ref}
	return nil
}

// blobTypeError is of the type to which encoding/json adds the field's name.
func blobTypeError(got string) error {
	return &json.UnmarshalTypeError{Value: got, Type: reflect.TypeFor[Blob]()}
}
