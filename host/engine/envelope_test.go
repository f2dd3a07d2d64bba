package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// envelope is the shape in the spec, as a client reads it.
type envelope struct {
	Pack       string          `json:"pack"`
	Version    string          `json:"version"`
	Output     json.RawMessage `json:"output"`
	Artifacts  []wire.Artifact `json:"artifacts"`
	DurationMS float64         `json:"duration_ms"`
	SessionID  string          `json:"session_id"`
}

func TestEnvelope(t *testing.T) {
	artifact := wire.Artifact{
		Key: "a.b/x-é\u2028\"<.md", URL: "http://127.0.0.1/a?exp=1&sig=2", Size: 1 << 60, ContentType: `text/plain; a="\b"`, CreatedAt: "2026-11-21T09:00:00Z",
	}
	broken := artifact
	broken.Key = "a.b/\xff\xfe"
	for _, tt := range []struct {
		name string
		v    Envelope
		want []wire.Artifact
		has  string
		not  string
	}{
		{"small", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`)}, nil, `"duration_ms":0`, "artifacts"},
		{"no session", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{ "n" : 1.10 }`)}, nil, `"output":{ "n" : 1.10 },`, "session_id"},
		{"session", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`), SessionID: "s-1"}, nil, `,"session_id":"s-1"}`, "artifacts"},
		{"duration", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`), Duration: 1234567 * time.Nanosecond}, nil, `"duration_ms":1.234}`, "e+"},
		{"long", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`), Duration: 1000 * time.Hour}, nil, `"duration_ms":3600000000}`, "e+"},
		{"artifact", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`), Artifacts: []wire.Artifact{artifact, artifact}}, []wire.Artifact{artifact, artifact}, `exp=1&sig=2`, `\u0026`},
		{"artifact of broken text", Envelope{Pack: "a.b", Version: "v1", Output: []byte(`{}`), Artifacts: []wire.Artifact{broken}},
			[]wire.Artifact{{Key: "a.b/\ufffd\ufffd", URL: broken.URL, Size: broken.Size, ContentType: broken.ContentType, CreatedAt: broken.CreatedAt}}, "", "\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			raw := tt.v.AppendJSON([]byte("before"))
			raw, ok := bytes.CutPrefix(raw, []byte("before"))
			var got envelope
			d := json.NewDecoder(bytes.NewReader(raw))
			d.DisallowUnknownFields()
			if err := d.Decode(&got); err != nil || !ok {
				t.Fatalf("%s: %v", raw, err)
			}
			want := envelope{tt.v.Pack, tt.v.Version, tt.v.Output, tt.want, float64(tt.v.Duration.Microseconds()) / 1000, tt.v.SessionID}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s\nreads as %+v\nwant     %+v", raw, got, want)
			}
			if s := string(raw); !strings.Contains(s, tt.has) || strings.Contains(s, tt.not) {
				t.Errorf("%s: want %s, not %s", s, tt.has, tt.not)
			}
		})
	}
}

// The envelope's artifacts are those of this call, in order; progress reaches the watcher, within bounds.
func TestArtifactsAndProgress(t *testing.T) {
	run := func(ctx context.Context, c *Call, _ []byte) ([]byte, error) {
		if FromContext(ctx) != c {
			t.Error("the context carries another call")
		}
		c.AddArtifact(wire.Artifact{Key: "one"})
		c.AddArtifact(wire.Artifact{Key: "two"})
		for _, p := range []float64{-1, 50, 101} {
			c.Progress(p, "working")
		}
		return []byte(`{}`), nil
	}
	h := newHouse(t, roomy, run, newPack(t, "", ""))
	var seen []float64
	r := request(`{}`)
	r.Progress = func(p float64, _ string) { seen = append(seen, p) }
	env, err := h.call(t.Context(), r)
	if err != nil || len(env.Artifacts) != 2 || env.Artifacts[0].Key != "one" || env.Artifacts[1].Key != "two" {
		t.Errorf("artifacts %+v, %v", env.Artifacts, err)
	}
	if !reflect.DeepEqual(seen, []float64{0, 50, 100}) {
		t.Errorf("progress %v", seen)
	}
	if env, err := h.call(t.Context(), request(`{}`)); err != nil || len(env.Artifacts) != 2 {
		t.Errorf("the next call, with nobody watching: %+v, %v", env.Artifacts, err)
	}
	if FromContext(t.Context()) != nil {
		t.Error("a call outside of any call")
	}
}
