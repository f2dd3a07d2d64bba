package stocksearch

import (
	"bytes"
	"encoding/json"
	"errors"
	"image"
	_ "image/jpeg"
	_ "image/png"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/gantry-packs/gantry/host/hosttest"
	"github.com/gantry-packs/gantry/pdk"
)

// unguarded lets everything out but what the real host's guard stops first: the metadata address.
type unguarded struct{}

func (u unguarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasPrefix(r.URL.Host, "127.0.0.1:") {
		return nil, errors.New("refused: " + r.URL.Host)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// start gives the pack a stand-in for the provider, and a vault with one key of it for each fault.
func start(t *testing.T) *pdk.Host {
	t.Helper()
	stock := hosttest.StartStock(t)
	h := pdk.NewHost(t)
	h.HTTP = unguarded{}
	h.Settings[baseSetting] = stock.URL + "/"
	h.Secrets[defaultCredential] = stock.Key(hosttest.FaultNone)
	h.Secrets["wrong"] = "not-a-key-of-the-stand-in"
	for _, f := range []hosttest.Fault{
		hosttest.FaultCut, hosttest.FaultHTML, hosttest.FaultBusy, hosttest.FaultDown, hosttest.FaultDenied, hosttest.FaultHuge, hosttest.FaultRedirect,
		hosttest.FaultPhotoGone, hosttest.FaultPhotoHTML, hosttest.FaultPhotoCut, hosttest.FaultPhotoHuge, hosttest.FaultPhotoRedirect, hosttest.FaultPhotoInside,
	} {
		h.Secrets[string(f)] = stock.Key(f)
	}
	return h
}

func input(t *testing.T, change map[string]any) []byte {
	t.Helper()
	in := map[string]any{"query": "mountains"}
	maps.Copy(in, change)
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestFound(t *testing.T) {
	tests := map[string]struct {
		change map[string]any
		ids    []int64
		names  []string
	}{
		"one by default": {nil, []int64{1287145}, []string{"photo-001.jpg"}},
		"four": {map[string]any{"count": 4}, []int64{1287145, 3408744, 1261728, 2662116},
			[]string{"photo-001.jpg", "photo-002.jpg", "photo-003.jpg", "photo-004.png"}},
		"fewer than asked": {map[string]any{"count": 3, "orientation": "portrait"}, []int64{1261728}, []string{"photo-001.jpg"}},
		"size":             {map[string]any{"count": 4, "size": "large"}, []int64{1261728}, []string{"photo-001.jpg"}},
		"color":            {map[string]any{"color": "Blue", "orientation": "landscape"}, []int64{1287145}, []string{"photo-001.jpg"}},
		"hex":              {map[string]any{"color": "#35A0F0", "media_type": "photo", "engine": "pexels"}, []int64{1287145}, []string{"photo-001.jpg"}},
		"spaces around":    {map[string]any{"query": "  mountains & lake?  "}, nil, nil},
		"square":           {map[string]any{"query": " mountains\tlake ", "orientation": "square"}, []int64{2662116}, []string{"photo-001.png"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			raw, err := pdk.Answer(run, input(t, tt.change))
			if tt.ids == nil {
				var e *pdk.Error
				if !errors.As(err, &e) || e.Code != pdk.HandlerFailed || !strings.Contains(e.Message, `no photo was found for "mountains & lake?"`) {
					t.Errorf("%s, %v", raw, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var out Output
			if err := json.Unmarshal(raw, &out); err != nil {
				t.Fatal(err)
			}
			stored := h.Artifacts()
			if out.Engine != "pexels" || len(out.Results) != len(tt.ids) || len(out.ArtifactKeys) != len(tt.ids) || len(stored) != len(tt.ids) {
				t.Fatalf("answered %s, stored %+v", raw, stored)
			}
			for i, r := range out.Results {
				if r.ID != tt.ids[i] || r.ArtifactKey != out.ArtifactKeys[i] || r.ArtifactKey != stored[i].Key || !strings.HasSuffix(r.ArtifactKey, "-"+tt.names[i]) {
					t.Errorf("photo %d: %+v, stored as %+v", i, r, stored[i])
				}
				body, _ := h.Artifact(r.ArtifactKey)
				_, kind, err := image.Decode(bytes.NewReader(body))
				if err != nil || stored[i].ContentType != "image/"+kind || r.Width < 1000 || r.Photographer == "" || r.AltText == "" {
					t.Errorf("photo %d: %+v: %s, %v", i, r, kind, err)
				}
			}
		})
	}
}

func TestRefused(t *testing.T) {
	tests := map[string]struct {
		change     map[string]any
		code, says string
	}{
		"no query":          {map[string]any{"query": ""}, "invalid_input", "query is empty"},
		"blank query":       {map[string]any{"query": " \n"}, "invalid_input", "query is empty"},
		"long query":        {map[string]any{"query": strings.Repeat("ä", 257)}, "invalid_input", "256 characters"},
		"engine":            {map[string]any{"engine": "unsplash"}, "invalid_input", "pexels is the only one"},
		"count 0":           {map[string]any{"count": 0}, "invalid_input", "1 to 4"},
		"count 5":           {map[string]any{"count": 5}, "invalid_input", "1 to 4"},
		"half a count":      {map[string]any{"count": 1.5}, "invalid_input", "count"},
		"orientation":       {map[string]any{"orientation": "tall"}, "invalid_input", "landscape, portrait or square"},
		"size":              {map[string]any{"size": "huge"}, "invalid_input", "large, medium or small"},
		"color":             {map[string]any{"color": "#12"}, "invalid_input", "#rrggbb"},
		"media type":        {map[string]any{"media_type": "video"}, "invalid_input", "photo is the only one"},
		"no credential":     {map[string]any{"credential": "absent"}, "invalid_input", "absent not in the vault"},
		"wrong key":         {map[string]any{"credential": "wrong"}, "invalid_input", "credential wrong (status 401)"},
		"denied":            {map[string]any{"credential": "denied"}, "invalid_input", "status 403"},
		"rate limit":        {map[string]any{"credential": "busy"}, "handler_failed", "status 429"},
		"down":              {map[string]any{"credential": "down"}, "handler_failed", "status 503"},
		"nothing found":     {map[string]any{"query": "submarine"}, "handler_failed", "no photo was found"},
		"cut off":           {map[string]any{"credential": "cut"}, "handler_failed", "no usable answer"},
		"a page":            {map[string]any{"credential": "html"}, "handler_failed", "no usable answer"},
		"without an end":    {map[string]any{"credential": "huge"}, "handler_failed", "over 1 MiB"},
		"sent elsewhere":    {map[string]any{"credential": "redirect"}, "handler_failed", "no usable answer"},
		"photo gone":        {map[string]any{"credential": "photo-gone"}, "handler_failed", "photo host answered 404"},
		"photo is a page":   {map[string]any{"credential": "photo-html"}, "handler_failed", "not an image"},
		"photo cut off":     {map[string]any{"credential": "photo-cut"}, "handler_failed", "cannot be downloaded"},
		"photo too large":   {map[string]any{"credential": "photo-huge"}, "handler_failed", "over 32 MiB"},
		"photo sent away":   {map[string]any{"credential": "photo-redirect"}, "handler_failed", "cannot be downloaded"},
		"photo is metadata": {map[string]any{"credential": "photo-inside"}, "handler_failed", "cannot be downloaded"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			out, err := pdk.Answer(run, input(t, tt.change))
			var e *pdk.Error
			if !errors.As(err, &e) {
				t.Fatalf("answered %s, %v", out, err)
			}
			if string(e.Code) != tt.code || !strings.Contains(e.Message, tt.says) {
				t.Errorf("error %v, want %s: …%s…", e, tt.code, tt.says)
			}
			if n := len(h.Artifacts()); n != 0 {
				t.Errorf("a refused search left %d artifacts", n)
			}
		})
	}
}

// Without the setting, the real provider is asked, and only there is the key shown.
func TestProvider(t *testing.T) {
	h := pdk.NewHost(t)
	h.Secrets[defaultCredential] = "k"
	var asked []string
	h.HTTP = roundTrip(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Host+" "+r.Header.Get("Authorization"))
		return nil, errors.New("offline")
	})
	_, err := run(Input{Query: "x"})
	if err == nil || len(asked) != 1 || asked[0] != "api.pexels.com k" {
		t.Errorf("asked %q, %v", asked, err)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
