package hosttest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// blogToken signs a JWT as a client of Ghost would, or would not.
func blogToken(t *testing.T, alg, key string, change map[string]any) string {
	t.Helper()
	id, secret, _ := strings.Cut(key, ":")
	head := map[string]any{"alg": alg, "typ": "JWT", "kid": id}
	claims := map[string]any{"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "aud": "/admin/"}
	for name, v := range change {
		if name == "kid" {
			head[name] = v
		} else {
			claims[name] = v
		}
	}
	part := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	text := part(head) + "." + part(claims)
	raw, err := hex.DecodeString(secret)
	if err != nil {
		t.Fatal(err)
	}
	mac := hmac.New(sha256.New, raw)
	mac.Write([]byte(text))
	return text + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func TestBlogDoor(t *testing.T) {
	b := StartBlog(t)
	c := newClient()
	good := b.Key(FaultNone)
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	tests := map[string]struct {
		header, version string
		status          int
		says            string
	}{
		"good":           {"Ghost " + blogToken(t, "HS256", good, nil), "v5.0", 201, ""},
		"no version":     {"Ghost " + blogToken(t, "HS256", good, nil), "", 201, ""},
		"old version":    {"Ghost " + blogToken(t, "HS256", good, nil), "v4.0", 406, "RequestNotAcceptableError"},
		"no header":      {"", "v5.0", 403, "NoPermissionError"},
		"scheme":         {"Bearer " + blogToken(t, "HS256", good, nil), "v5.0", 401, "INVALID_AUTH_HEADER"},
		"no JWT":         {"Ghost x", "v5.0", 400, "INVALID_JWT"},
		"no kid":         {"Ghost " + blogToken(t, "HS256", good, map[string]any{"kid": ""}), "v5.0", 400, "MISSING_ADMIN_API_KID"},
		"unknown kid":    {"Ghost " + blogToken(t, "HS256", good, map[string]any{"kid": "x"}), "v5.0", 401, "UNKNOWN_ADMIN_API_KEY"},
		"other secret":   {"Ghost " + blogToken(t, "HS256", b.keyID(FaultNone)+":00", nil), "v5.0", 401, "invalid signature"},
		"algorithm":      {"Ghost " + blogToken(t, "none", good, nil), "v5.0", 401, "invalid algorithm"},
		"expired":        {"Ghost " + blogToken(t, "HS256", good, map[string]any{"exp": ago(time.Second)}), "v5.0", 401, "jwt expired"},
		"too old":        {"Ghost " + blogToken(t, "HS256", good, map[string]any{"iat": ago(6 * time.Minute)}), "v5.0", 401, "maxAge exceeded"},
		"audience":       {"Ghost " + blogToken(t, "HS256", good, map[string]any{"aud": "/content/"}), "v5.0", 401, "audience invalid"},
		"without a time": {"Ghost " + blogToken(t, "HS256", good, map[string]any{"iat": nil}), "v5.0", 401, "iat required"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			headers := []string{"Authorization: " + tt.header}
			if tt.version != "" {
				headers = append(headers, "Accept-Version: "+tt.version)
			}
			req, err := newRequest(b.URL, "POST", "/ghost/api/admin/posts/", "", strings.NewReader(`{"posts":[{"title":"T"}]}`), headers)
			if err != nil {
				t.Fatal(err)
			}
			a, err := send(c, req)
			if err != nil || a.Status != tt.status || !strings.Contains(string(a.Body), tt.says) || a.Header.Get("Content-Version") != blogVersion {
				t.Errorf("%s, %v", a, err)
			}
		})
	}
}

func TestBlogPosts(t *testing.T) {
	now := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		post   string
		source bool
		want   string // of lexical, html or the refusal
	}{
		"empty":           {`{"title":"T"}`, false, emptyLexical},
		"html unsourced":  {`{"title":"T","html":"<p>"}`, false, emptyLexical},
		"html":            {`{"title":"T","html":"<p>"}`, true, "<p>"},
		"no title":        {`{"html":"<p>"}`, true, "[posts.title]"},
		"unknown field":   {`{"title":"T","content":"x"}`, false, "content"},
		"tags as words":   {`{"title":"T","tags":[1]}`, false, "(Type)"},
		"unknown card":    {`{"title":"T","lexical":"{\"root\":{\"type\":\"root\",\"version\":1,\"children\":[{\"type\":\"x\"}]}}"}`, false, "lexical"},
		"scheduled late":  {`{"title":"T","status":"scheduled","published_at":"2030-01-01T00:01:00.000Z"}`, false, "2 minutes"},
		"scheduled never": {`{"title":"T","status":"scheduled"}`, false, "published_at"},
		"state":           {`{"title":"T","status":"gone"}`, false, "(Enum)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var fields map[string]json.RawMessage
			if err := json.Unmarshal([]byte(tt.post), &fields); err != nil {
				t.Fatal(err)
			}
			post, refused := readPost(fields, tt.source, now)
			switch {
			case refused != nil && !strings.Contains(refused.context, tt.want):
				t.Errorf("refused: %+v", refused)
			case refused == nil && post["lexical"] != tt.want && post["html"] != tt.want:
				t.Errorf("made %v", post)
			}
		})
	}
}
