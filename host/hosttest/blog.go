package hosttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// FaultStale is a blog that answers every new post with one of another state than was asked for.
const FaultStale Fault = "stale"

// blogVersion is what the stand-in claims to be. Requests for another major version are not acceptable to it.
const blogVersion = "v5.130"

// Blog stands in for Ghost's Admin API: posts and images are made with a JWT that the key <id>:<hex secret> has signed, and
// refusals come as {"errors": [...]}. GET /made?title= needs no token; it is not Ghost's, but shows a script what arrived.
type Blog struct {
	URL string

	keys map[string]Fault // by the key's id
	mu   sync.Mutex
	made []map[string]any // posts
	pics map[string]blogImage
}

type blogImage struct {
	contentType string
	data        []byte
}

// StartBlog runs a stand-in until the end of the test.
func StartBlog(t testing.TB) *Blog {
	b := &Blog{keys: map[string]Fault{}, pics: map[string]blogImage{}}
	for _, f := range slices.Concat([]Fault{FaultNone, FaultStale}, commonFaults) {
		b.keys[b.keyID(f)] = f
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /ghost/api/admin/posts/{$}", b.admin(b.addPost))
	mux.HandleFunc("POST /ghost/api/admin/images/upload/{$}", b.admin(b.addImage))
	mux.HandleFunc("GET /content/images/{name}", b.image)
	mux.HandleFunc("GET /made", b.list)
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		blogError(w, http.StatusNotFound, "NotFoundError", "Resource not found", "", "")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // ends what a slow answer waits for
		server.Close()
	})
	b.URL = server.URL
	return b
}

func (*Blog) keyID(f Fault) string     { return hexKey(24, "blog id", string(f)) }
func (*Blog) keySecret(f Fault) string { return hexKey(64, "blog secret", string(f)) }

// Key is the admin key with which the stand-in has the fault.
func (b *Blog) Key(f Fault) string { return b.keyID(f) + ":" + b.keySecret(f) }

// Env are the variables of a script: BLOG_URL, BLOG_KEY and one BLOG_KEY_<FAULT> for each fault.
func (b *Blog) Env() []string {
	env := []string{"BLOG_URL=" + b.URL}
	for _, id := range slices.Sorted(maps.Keys(b.keys)) {
		env = append(env, b.keys[id].variable("BLOG_KEY")+"="+b.Key(b.keys[id]))
	}
	return env
}

// Posts are the posts made so far, as Ghost would answer them.
func (b *Blog) Posts() []map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.made)
}

// Image returns the bytes behind an image's URL.
func (b *Blog) Image(url string) (data []byte, contentType string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.pics[url]
	return i.data, i.contentType
}

// admin is the door of the Admin API: version, token, then the key's fault.
func (b *Blog) admin(next func(http.ResponseWriter, *http.Request, Fault)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Version", blogVersion)
		w.Header().Set("Vary", "Accept-Version, Origin")
		if v := r.Header.Get("Accept-Version"); v != "" && !strings.HasPrefix(v, "v5.") {
			blogError(w, http.StatusNotAcceptable, "RequestNotAcceptableError", "Request not acceptable for provided Accept-Version header.", "Client request for "+v+" is not supported by the current version of Ghost.", "UPDATE_CLIENT")
			return
		}
		id, refused := b.authenticate(r.Header.Get("Authorization"), time.Now())
		if refused != nil {
			refused.write(w)
			return
		}
		fault := b.keys[id]
		switch {
		case fault.serve(w, r, "application/json"):
		case fault == FaultBusy:
			blogError(w, http.StatusTooManyRequests, "TooManyRequestsError", "Too many attempts.", "Too many requests.", "")
		case fault == FaultDown:
			blogError(w, http.StatusServiceUnavailable, "MaintenanceError", "Site is under maintenance", "", "")
		case fault == FaultDenied:
			blogError(w, http.StatusForbidden, "NoPermissionError", "You do not have permission to add posts", "", "")
		case fault == FaultEcho:
			blogError(w, http.StatusBadRequest, "BadRequestError", "Cannot use "+r.Header.Get("Authorization"), "Key "+b.Key(fault), "")
		default:
			next(w, r, fault)
		}
	}
}

// blogRefusal is one entry of Ghost's errors array, with its status.
type blogRefusal struct {
	status                       int
	kind, message, context, code string
}

func (e *blogRefusal) write(w http.ResponseWriter) {
	blogError(w, e.status, e.kind, e.message, e.context, e.code)
}

// blogError answers as Ghost does; what is empty is null.
func blogError(w http.ResponseWriter, status int, kind, message, context, code string) {
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	writeJSON(w, status, map[string]any{"errors": []map[string]any{{
		"message": message, "context": orNull(context), "type": kind, "details": nil, "property": nil, "help": nil, "code": orNull(code),
		"id": "0a1b2c3d-0000-11f0-8000-000000000000", "ghostErrorCode": nil,
	}}})
}

// addPost makes a post of the first one in the body, if it is one that Ghost would take.
func (b *Blog) addPost(w http.ResponseWriter, r *http.Request, fault Fault) {
	var body struct {
		Posts []map[string]json.RawMessage `json:"posts"`
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Posts) != 1 {
		blogError(w, http.StatusBadRequest, "BadRequestError", "No root key ('posts') provided.", "", "")
		return
	}
	post, refused := readPost(body.Posts[0], r.URL.Query().Get("source") == "html", time.Now())
	if refused != nil {
		refused.write(w)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := fmt.Sprintf("%024x", len(b.made)+1)
	slug := strings.Join(strings.Fields(strings.ToLower(post["title"].(string))), "-")
	post["id"], post["slug"], post["url"] = id, slug, b.URL+"/"+slug+"/"
	if post["status"] != "published" {
		post["url"] = b.URL + "/p/" + id + "/"
	}
	b.made = append(b.made, post)
	if fault == FaultStale {
		post = maps.Clone(post)
		post["status"] = "sent"
	}
	w.Header().Set("Location", b.URL+"/ghost/api/admin/posts/"+id+"/")
	writeJSON(w, http.StatusCreated, map[string]any{"posts": []any{post}})
}

// addImage keeps the picture in the form's field file.
func (b *Blog) addImage(w http.ResponseWriter, r *http.Request, _ Fault) {
	file, head, err := r.FormFile("file")
	if err != nil {
		blogError(w, http.StatusUnprocessableEntity, "ValidationError", "Please select an image.", "", "")
		return
	}
	defer file.Close()
	data, contentType, refused := readImage(file, head, r.FormValue("purpose"))
	if refused != nil {
		refused.write(w)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	url := fmt.Sprintf("%s/content/images/%d-%s", b.URL, len(b.pics)+1, head.Filename)
	b.pics[url] = blogImage{contentType, data}
	var ref any
	if v := r.FormValue("ref"); v != "" {
		ref = v
	}
	writeJSON(w, http.StatusCreated, map[string]any{"images": []map[string]any{{"url": url, "ref": ref}}})
}

func (b *Blog) image(w http.ResponseWriter, r *http.Request) {
	data, contentType := b.Image(b.URL + r.URL.Path)
	if data == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", contentType)
	_, _ = w.Write(data)
}

// list answers the posts that have a title.
func (b *Blog) list(w http.ResponseWriter, r *http.Request) {
	posts := []map[string]any{}
	for _, p := range b.Posts() {
		if p["title"] == r.URL.Query().Get("title") {
			posts = append(posts, p)
		}
	}
	writeJSON(w, http.StatusOK, map[string]any{"posts": posts})
}
