package artifact

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestSignedURL(t *testing.T) {
	w := newWorld(t)
	s := w.open(t)
	e, other := put(t, s, "a.b", "ann", "x y.txt", "hello"), put(t, s, "a.b", "ann", "z.txt", "other")
	public := s.Public(e)
	u, err := url.Parse(public.URL)
	if err != nil || u.Host != "gantry.test" || u.Path != "/api/v1/artifacts/"+e.Key || public.Key != e.Key || public.Pack != "a.b" {
		t.Fatalf("got %+v, %v", public, err)
	}
	exp, sig := u.Query().Get("exp"), u.Query().Get("sig")
	if exp != fmt.Sprint(w.now().Unix()+900) {
		t.Fatalf("exp is %s", exp)
	}
	_, r, err := w.open(t).OpenSigned(t.Context(), e.Key, exp, sig) // after a restart
	if err != nil || read(t, r) != "hello" {
		t.Fatal(err)
	}
	for name, c := range map[string][3]string{
		"other key":      {other.Key, exp, sig},
		"no such key":    {"a.b/none", exp, sig},
		"later":          {e.Key, fmt.Sprint(w.now().Unix() + 901), sig},
		"other spelling": {e.Key, "+" + exp, sig},
		"newline":        {e.Key, exp + "\n" + e.Key, sig},
		"changed":        {e.Key, exp, flip(sig)},
		"cut":            {e.Key, exp, sig[:62]},
		"no signature":   {e.Key, exp, ""},
		"no hex":         {e.Key, exp, strings.Repeat("x", 64)},
		"nothing":        {e.Key, "", ""},
	} {
		_, _, err := s.OpenSigned(t.Context(), c[0], c[1], c[2])
		if wire.As(err) == nil || wire.As(err).Code != wire.Forbidden {
			t.Errorf("%s: got %v", name, err)
		}
	}
	w.advance(URLTTL - time.Second)
	if _, r, err := s.OpenSigned(t.Context(), e.Key, exp, sig); err != nil || read(t, r) != "hello" {
		t.Fatal(err)
	}
	w.advance(time.Second)
	_, _, err = s.OpenSigned(t.Context(), e.Key, exp, sig)
	wantCode(t, err, wire.Forbidden)
	fresh, _ := url.Parse(s.Public(e).URL)
	if err := s.Delete(t.Context(), ann, e.Key); err != nil {
		t.Fatal(err)
	}
	_, _, err = s.OpenSigned(t.Context(), e.Key, fresh.Query().Get("exp"), fresh.Query().Get("sig"))
	wantCode(t, err, wire.ArtifactNotFound)
}

// flip changes the last hex digit.
func flip(sig string) string {
	if strings.HasSuffix(sig, "0") {
		return sig[:len(sig)-1] + "1"
	}
	return sig[:len(sig)-1] + "0"
}
