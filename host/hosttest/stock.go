package hosttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The faults of a photo's download: the search answers well, the photo behind its link does not.
const (
	FaultPhotoGone     Fault = "photo-gone"     // 404
	FaultPhotoHTML     Fault = "photo-html"     // a page for a picture
	FaultPhotoCut      Fault = "photo-cut"      // breaks off
	FaultPhotoHuge     Fault = "photo-huge"     // without an end
	FaultPhotoRedirect Fault = "photo-redirect" // to the metadata address
	FaultPhotoInside   Fault = "photo-inside"   // the link itself is the metadata address
)

var photoFaults = []Fault{FaultPhotoGone, FaultPhotoHTML, FaultPhotoCut, FaultPhotoHuge, FaultPhotoRedirect, FaultPhotoInside}

// Stock stands in for Pexels' API and the host of its photos: GET /v1/search with the key in Authorization, without a scheme.
type Stock struct {
	URL string

	keys map[string]Fault // by key
}

// StartStock runs a stand-in until the end of the test.
func StartStock(t testing.TB) *Stock {
	s := &Stock{keys: map[string]Fault{}}
	for _, f := range slices.Concat([]Fault{FaultNone}, commonFaults, photoFaults) {
		s.keys[s.Key(f)] = f
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/search", s.search)
	mux.HandleFunc("GET /photos/{fault}/{id}/{file}", s.photo)
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		server.CloseClientConnections() // ends what a slow answer waits for
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Key is the API key with which the stand-in has the fault.
func (*Stock) Key(f Fault) string { return hexKey(56, "stock", string(f)) }

// Env are the variables of a script: STOCK_URL, STOCK_KEY and one STOCK_KEY_<FAULT> for each fault.
func (s *Stock) Env() []string {
	env := []string{"STOCK_URL=" + s.URL}
	for _, key := range slices.Sorted(maps.Keys(s.keys)) {
		env = append(env, s.keys[key].variable("STOCK_KEY")+"="+key)
	}
	return env
}

// stockPhoto is one of the library. Width and height are what the API says; the bytes are of a smaller picture.
type stockPhoto struct {
	id            int64
	width, height int
	color         string
	alt           string
	photographer  string
	png           bool
}

func stockLibrary() []stockPhoto {
	return []stockPhoto{
		{2014422, 6000, 4000, "brown", "Brown rocks during golden hour at the sea", "Joey Farina", false},
		{1287145, 5472, 3648, "blue", "Blue mountains under a sky of stars", "eberhard grossgasteiger", false},
		{3408744, 3000, 2000, "green", "Scenic view of mountains at dawn", "stein egil liland", false},
		{1261728, 4000, 6000, "blue", "Mountains behind a lake at night", "Mateusz Sałaciak", false},
		{2662116, 3200, 3200, "orange", "Mountains reflected in a lake", "Jaime Reimer", true},
		{4614170, 1800, 1200, "gray", "Small hut in the mountains", "Ana-Maria", false},
	}
}

// minPixels are the size filter's smallest photos.
func minPixels(size string) int {
	return map[string]int{"large": 24e6, "medium": 12e6, "small": 4e6}[size]
}

var (
	stockColors = []string{"red", "orange", "yellow", "green", "turquoise", "blue", "violet", "pink", "brown", "black", "gray", "white"}
	stockHex    = regexp.MustCompile(`^#?[0-9a-fA-F]{6}$`)
)

// stockQuery is a search that was understood.
type stockQuery struct {
	text, orientation, size, color string
	page, perPage                  int
}

// parseStockQuery reads the parameters; false is a bad request.
func parseStockQuery(q url.Values) (stockQuery, bool) {
	number := func(name string, otherwise int) int {
		if q.Get(name) == "" {
			return otherwise
		}
		n, err := strconv.Atoi(q.Get(name))
		if err != nil {
			return 0
		}
		return n
	}
	s := stockQuery{
		text: strings.ToLower(q.Get("query")), orientation: q.Get("orientation"), size: q.Get("size"), color: strings.ToLower(q.Get("color")),
		page: number("page", 1), perPage: number("per_page", 15),
	}
	ok := s.text != "" && s.page >= 1 && s.perPage >= 1 && s.perPage <= 80 &&
		slices.Contains([]string{"", "landscape", "portrait", "square"}, s.orientation) &&
		slices.Contains([]string{"", "large", "medium", "small"}, s.size) &&
		(s.color == "" || slices.Contains(stockColors, s.color) || stockHex.MatchString(s.color))
	return s, ok
}

// finds says whether the photo fits: all words of the query stand in its text.
func (q stockQuery) finds(p stockPhoto) bool {
	for word := range strings.FieldsSeq(q.text) {
		if !strings.Contains(strings.ToLower(p.alt), word) {
			return false
		}
	}
	shape := "square"
	if p.width > p.height {
		shape = "landscape"
	} else if p.width < p.height {
		shape = "portrait"
	}
	named := slices.Contains(stockColors, q.color)
	return (q.orientation == "" || q.orientation == shape) && p.width*p.height >= minPixels(q.size) && (!named || q.color == p.color)
}

func (s *Stock) search(w http.ResponseWriter, r *http.Request) {
	key := r.Header.Get("Authorization")
	fault, known := s.keys[key]
	switch {
	case !known:
		stockError(w, http.StatusUnauthorized, "Unauthorized")
		return
	case fault.serve(w, r, "application/json"):
		return
	case fault == FaultBusy: // without X-Ratelimit headers: Pexels sends those with 2xx alone
		stockError(w, http.StatusTooManyRequests, "Too Many Requests")
		return
	case fault == FaultDown:
		stockError(w, http.StatusServiceUnavailable, "Service Unavailable")
		return
	case fault == FaultDenied:
		stockError(w, http.StatusForbidden, "Forbidden")
		return
	}
	q, ok := parseStockQuery(r.URL.Query())
	if !ok {
		stockError(w, http.StatusBadRequest, "Bad Request")
		return
	}
	w.Header().Set("X-Ratelimit-Limit", "200")
	w.Header().Set("X-Ratelimit-Remaining", "199")
	w.Header().Set("X-Ratelimit-Reset", "1893456000")
	writeJSON(w, http.StatusOK, s.page(q, key, fault))
}

func stockError(w http.ResponseWriter, status int, code string) {
	writeJSON(w, status, map[string]any{"status": status, "code": code})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// page is the answer to a search. Its links to further pages are there only if there are such pages.
func (s *Stock) page(q stockQuery, key string, fault Fault) map[string]any {
	var found []stockPhoto
	for _, p := range stockLibrary() {
		if q.finds(p) {
			found = append(found, p)
		}
	}
	from := min((q.page-1)*q.perPage, len(found))
	to := min(from+q.perPage, len(found))
	photos := []map[string]any{}
	for _, p := range found[from:to] {
		photos = append(photos, s.describe(p, key, fault))
	}
	answer := map[string]any{"page": q.page, "per_page": q.perPage, "total_results": len(found), "photos": photos}
	link := func(page int) string {
		v := url.Values{"query": {q.text}, "page": {strconv.Itoa(page)}, "per_page": {strconv.Itoa(q.perPage)}}
		return s.URL + "/v1/search?" + v.Encode()
	}
	if to < len(found) {
		answer["next_page"] = link(q.page + 1)
	}
	if q.page > 1 {
		answer["prev_page"] = link(q.page - 1)
	}
	return answer
}

func (s *Stock) describe(p stockPhoto, key string, fault Fault) map[string]any {
	alt, kind := p.alt, "jpeg"
	if fault == FaultEcho {
		alt += " for " + key
	}
	if p.png {
		kind = "png"
	}
	if fault == FaultNone || fault == FaultEcho {
		fault = "good"
	}
	original := fmt.Sprintf("%s/photos/%s/%d/pexels-photo-%d.%s", s.URL, fault, p.id, p.id, kind)
	if fault == FaultPhotoInside {
		original = metadataURL
	}
	src := map[string]string{"original": original}
	for name, query := range map[string]string{
		"large2x": "?auto=compress&cs=tinysrgb&dpr=2&h=650&w=940", "large": "?auto=compress&cs=tinysrgb&h=650&w=940",
		"medium": "?auto=compress&cs=tinysrgb&h=350", "small": "?auto=compress&cs=tinysrgb&h=130",
		"portrait":  "?auto=compress&cs=tinysrgb&fit=crop&h=1200&w=800",
		"landscape": "?auto=compress&cs=tinysrgb&fit=crop&h=627&w=1200", "tiny": "?auto=compress&cs=tinysrgb&dpr=1&fit=crop&h=200&w=280",
	} {
		src[name] = original + query
	}
	return map[string]any{
		"id": p.id, "width": p.width, "height": p.height, "url": fmt.Sprintf("https://www.pexels.com/photo/%d/", p.id),
		"photographer": p.photographer, "photographer_url": fmt.Sprintf("https://www.pexels.com/@%d", p.id/10), "photographer_id": p.id / 10,
		"avg_color": "#978E82", "src": src, "liked": false, "alt": alt,
	}
}

// photo serves a real picture, 48 pixels on its longer side. As on the real host, no key is asked for.
func (s *Stock) photo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		http.Error(w, "a key was sent to the photo host", http.StatusBadRequest)
		return
	}
	fault, ofPhoto := strings.CutPrefix(r.PathValue("fault"), "photo-")
	if ofPhoto && Fault(fault).serve(w, r, "image/jpeg") {
		return
	}
	for _, p := range stockLibrary() {
		if strconv.FormatInt(p.id, 10) == r.PathValue("id") && !ofPhoto {
			data, contentType := p.encode()
			w.Header().Set("Content-Type", contentType)
			_, _ = w.Write(data)
			return
		}
	}
	http.NotFound(w, r)
}

func (p stockPhoto) encode() (data []byte, contentType string) {
	scale := max(p.width, p.height) / 48
	m := image.NewRGBA(image.Rect(0, 0, p.width/scale, p.height/scale))
	for i := range m.Bounds().Dx() {
		for j := range m.Bounds().Dy() {
			m.Set(i, j, color.RGBA{R: uint8(p.id), G: uint8(5 * i), B: uint8(5 * j), A: 255})
		}
	}
	var b bytes.Buffer
	if p.png {
		_ = png.Encode(&b, m) // a Buffer takes everything
		return b.Bytes(), "image/png"
	}
	_ = jpeg.Encode(&b, m, nil)
	return b.Bytes(), "image/jpeg"
}
