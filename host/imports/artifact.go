package imports

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/host/engine"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxArtifacts is how many artifacts one call may store.
const maxArtifacts = 1000

type function = func(ctx context.Context, c *engine.Call, req []byte) (any, error)

// putArtifact stores under the name of the pack that runs and for its caller, whatever the module would like. Secrets that
// the call has used are masked.
func putArtifact(a *artifact.Store) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		p, err := decode[wire.ArtifactPut](req)
		if err != nil {
			return nil, err
		}
		if len(c.Artifacts()) >= maxArtifacts {
			return nil, wire.Errorf(wire.ArtifactFailed, "a call stores at most %d artifacts: put many small things into one", maxArtifacts)
		}
		body, err := bodyOf(c, p)
		if err != nil {
			return nil, err
		}
		e, err := a.Put(ctx, artifact.Put{
			Pack: c.Pack.Name, Owner: c.Caller.Subject, Name: c.Secrets.MaskString(p.Name), ContentType: p.ContentType, Body: body, Max: artifact.MaxSize,
		})
		if err != nil {
			return nil, err
		}
		public := a.Public(e)
		c.AddArtifact(public)
		return public, nil
	}
}

func bodyOf(c *engine.Call, p wire.ArtifactPut) (io.Reader, error) {
	switch {
	case (p.Text == nil) == (p.Blob == nil):
		return nil, wire.Invalid("artifact_put takes exactly one of text and blob")
	case p.Text != nil:
		return strings.NewReader(c.Secrets.MaskString(*p.Text)), nil
	}
	data, ok := c.Blobs.Get(p.Blob.ID)
	if !ok {
		return nil, wire.Invalid("no blob %d in this call", p.Blob.ID)
	}
	return bytes.NewReader(c.Secrets.Mask(data)), nil
}

func getArtifact(a *artifact.Store) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		g, err := decode[wire.ArtifactGet](req)
		if err != nil {
			return nil, err
		}
		e, body, err := a.Open(ctx, c.Caller, g.Key)
		if err != nil {
			return nil, err
		}
		defer body.Close()
		data := make([]byte, e.Size)
		if _, err := io.ReadFull(body, data); err != nil {
			return nil, wire.Errorf(wire.ArtifactFailed, "the artifact cannot be read back").Because(fmt.Errorf("reading %s: %w", g.Key, err))
		}
		ref, err := c.Blobs.Add(data)
		if err != nil {
			return nil, err
		}
		return wire.ArtifactContent{Entry: a.Public(e), Blob: ref}, nil
	}
}

func listArtifacts(a *artifact.Store) function {
	return func(ctx context.Context, c *engine.Call, req []byte) (any, error) {
		l, err := decode[wire.ArtifactList](req)
		if err != nil {
			return nil, err
		}
		entries, next, err := a.List(ctx, c.Caller, artifact.Filter{Pack: l.Pack, Limit: l.Limit, Cursor: l.Cursor})
		if err != nil {
			return nil, err
		}
		page := wire.ArtifactPage{Artifacts: make([]wire.Artifact, len(entries)), NextCursor: next}
		for i, e := range entries {
			page.Artifacts[i] = a.Public(e)
		}
		return page, nil
	}
}
