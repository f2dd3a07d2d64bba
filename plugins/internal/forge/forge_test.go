package forge

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/host/hosttest/codehost"
	"github.com/gantry-packs/gantry/pdk"
)

const (
	github = "/api/v3"
	gitea  = "/api/v1"
)

// open gives the test a host whose forge is a platform with some repositories.
func open(t *testing.T, flavour string, repos ...codehost.Repo) (*codehost.Server, *pdk.Host) {
	t.Helper()
	site, url := codehost.Start(t, repos...)
	h := pdk.NewHost(t)
	h.Settings = map[string]string{baseSetting: url + flavour + "/"}
	h.Secrets = map[string]string{defaultCredential: codehost.WriterToken, "wrong": "no-such-token", "reader": codehost.ReaderToken, "used-up": codehost.UsedUpToken}
	h.HTTP = inside{}
	return site, h
}

// inside refuses every address but this machine's, as the real host's guard does the other way round, and gives up early on
// what is known to be slow.
type inside struct{}

func (inside) RoundTrip(r *http.Request) (*http.Response, error) {
	transport := &http.Transport{DisableKeepAlives: true}
	if !net.ParseIP(r.URL.Hostname()).IsLoopback() {
		return nil, errors.New("refused")
	}
	if strings.Contains(r.URL.Path, "/slow/") {
		transport.ResponseHeaderTimeout = 10 * time.Millisecond
	}
	return transport.RoundTrip(r)
}

func failed(t *testing.T, err error, code pdk.Code, says ...string) {
	t.Helper()
	var e *pdk.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("error %v, want %s", err, code)
		return
	}
	for _, text := range says {
		if !strings.Contains(e.Message+string(e.Details), text) {
			t.Errorf("error %v %s, want …%s…", err, e.Details, text)
		}
	}
}

var hello = Repo{"octo", "hello"}

func TestRefusals(t *testing.T) {
	_, h := open(t, github, codehost.Repo{Name: "octo/hello"}, codehost.Repo{Name: "octo/secret", Private: true})
	tests := map[string]struct {
		do   func() error
		says []string
	}{
		"wrong token": {func() error { _, err := Writer("wrong").CreateIssue(hello, "a", "", nil); return err },
			[]string{"401", "credential wrong", "Bad credentials", `"upstream_status":401`}},
		"no write": {func() error { _, err := Writer("reader").CreateRelease(hello, Release{Tag: "v1"}); return err },
			[]string{"403", "credential reader lacks the right", "Resource not accessible"}},
		"no repo": {func() error {
			_, err := Writer("").CreateIssue(Repo{"octo", "none"}, "a", "", []string{"x"})
			return err
		},
			[]string{"404", "repo octo/none does not exist"}},
		"rate limit": {func() error { _, err := Reader("used-up").Issues(hello, IssueFilter{}); return err },
			[]string{"rate limited", "resets at 20", `"rate_limit_reset":"20`}},
		"invalid": {func() error { _, err := Writer("").CreateRelease(hello, Release{Tag: "a b"}); return err },
			[]string{"422", "Validation Failed; tag_name is not a valid tag"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) { failed(t, tt.do(), pdk.HandlerFailed, tt.says...) })
	}
	t.Run("a release twice", func(t *testing.T) {
		if _, err := Writer("").CreateRelease(hello, Release{Tag: "v1"}); err != nil {
			t.Fatal(err)
		}
		_, err := Writer("").CreateRelease(hello, Release{Tag: "v1"})
		failed(t, err, pdk.HandlerFailed, "422", "the tag has a release already")
	})
	t.Run("nobody", func(t *testing.T) {
		delete(h.Secrets, defaultCredential)
		_, err := Reader("").Issues(Repo{"octo", "secret"}, IssueFilter{})
		failed(t, err, pdk.HandlerFailed, "404", "is private", defaultCredential)
		_, err = Reader("").Search("code", "x")
		failed(t, err, pdk.HandlerFailed, "401", "needs a credential")
		_, err = Writer("").Comment(hello, 1, "x")
		failed(t, err, pdk.InvalidInput, defaultCredential)
		_, err = Reader("absent").Issues(hello, IssueFilter{})
		failed(t, err, pdk.InvalidInput, "absent")
	})
}

func TestTroubles(t *testing.T) {
	says := map[codehost.Trouble]string{
		codehost.Slow: "cannot be reached", codehost.CutOff: "broke off", codehost.HTML: "a page of HTML", codehost.HTMLError: "answered 502",
		codehost.Broken: "answered 500: it is in trouble", codehost.NotJSON: "not whole JSON", codehost.OtherJSON: "JSON without",
		codehost.Huge: "over 8 MiB", codehost.Deep: "not whole JSON", codehost.Metadata: "cannot be reached", codehost.Moved: "404",
		codehost.Echo: "answered 500", codehost.Limited: "resets at", codehost.Secondary: "retry after 60 seconds",
		codehost.Disabled: "410", codehost.SeveralBad: "body is too long (maximum is 65536 characters); title missing_field",
	}
	for _, flavour := range []string{github, gitea} {
		open(t, flavour)
		for _, trouble := range codehost.Troubles() {
			repo := Repo{"trouble", string(trouble)}
			_, read := Reader("").Issues(repo, IssueFilter{})
			_, made := Writer("").CreateIssue(repo, "a", "", nil)
			_, pulls := Reader("").Pulls(repo, PullFilter{Head: "a"})
			_, one := Reader("").Issue(repo, 1)
			if trouble == codehost.Large {
				if read != nil {
					t.Errorf("large: %v", read)
				}
				continue
			}
			if trouble == codehost.EchoOK { // a good answer; that it is masked is the host's affair
				if read != nil || made != nil || pulls != nil || one == nil {
					t.Errorf("echo: %v, %v, %v, %v", read, made, pulls, one)
				}
				continue
			}
			for _, err := range []error{read, pulls, one} {
				failed(t, err, pdk.HandlerFailed, says[trouble])
			}
			if trouble == codehost.OtherJSON {
				failed(t, made, pdk.HandlerFailed, "answered 200 where 201")
			} else {
				failed(t, made, pdk.HandlerFailed, says[trouble])
			}
		}
	}
}

// Whoever makes an issue with a label that GitHub doesn't know makes the label: unknown ones must not get that far.
func TestLabels(t *testing.T) {
	var many []string
	for i := range 230 {
		many = append(many, fmt.Sprintf("label-%d", i))
	}
	for _, flavour := range []string{github, gitea} {
		site, _ := open(t, flavour, codehost.Repo{Name: "octo/hello", Labels: many})
		site.AddOrganisation("octo", "shared")
		o, err := Writer("").CreateIssue(hello, "a", "", []string{"Label-229", "unknown", "label-0", " label-0 ", "", "shared"})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		labels, _ := o["labels"].([]any)
		for _, l := range labels {
			got = append(got, Object(l.(map[string]any)).at("name"))
		}
		want := []string{"label-0", "label-229"}
		if flavour == gitea {
			want = append(want, "shared")
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: labels %q, want %q", flavour, got, want)
		}
	}
	site, _ := open(t, gitea, codehost.Repo{Name: "ann/hello", Labels: []string{"bug"}}) // ann is no organisation
	if _, err := Writer("").CreateIssue(Repo{"ann", "hello"}, "a", "", []string{"none"}); err != nil {
		t.Error(err)
	}
	seen := len(site.Seen())
	if _, err := Writer("").CreateIssue(Repo{"ann", "hello"}, "a", "", nil); err != nil || len(site.Seen()) != seen+1 {
		t.Errorf("without labels it took %d requests, %v", len(site.Seen())-seen, err)
	}
}

func TestHeaders(t *testing.T) {
	site, h := open(t, "", codehost.Repo{Name: "octo/hello"})
	if _, err := Reader("").Issues(hello, IssueFilter{State: "all", Labels: "a&b, c", Assignee: "x y"}); err != nil {
		t.Fatal(err)
	}
	delete(h.Secrets, defaultCredential)
	if _, err := Reader("").Issues(hello, IssueFilter{}); err != nil {
		t.Fatal(err)
	}
	seen := site.Seen()
	if got, want := seen[0].URL, "/repos/octo/hello/issues?assignee=x+y&labels=a%26b%2Cc&state=all"; got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"Accept": "application/vnd.github+json", "X-Github-Api-Version": apiVersion, "User-Agent": userAgent, "Authorization": "Bearer " + codehost.WriterToken,
	} {
		if got := seen[0].Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := seen[1].Header.Values("Authorization"); got != nil {
		t.Errorf("nobody sent %q", got)
	}
}

func TestDefaultBase(t *testing.T) {
	pdk.NewHost(t)
	if c := Writer(""); c.base != defaultBase || c.gitea {
		t.Errorf("%+v", c)
	}
}

func TestRepo(t *testing.T) {
	for _, good := range []string{"octo/hello", "a/b", "Octo-Cat/hello.world_2", "octo/.github"} {
		if r, err := ParseRepo(good); err != nil || r.String() != good {
			t.Errorf("%q: %v, %v", good, r, err)
		}
	}
	for _, bad := range []string{
		"", "octo", "octo/", "/hello", "octo/hello/x", "../user", "octo/..", "./x", "octo/hel lo", "octo/hello?x=1", "octo/hello#", "octo/%2e%2e",
		"https://github.com/octo/hello", "octo\\hello", "octo/hello\n", "öcto/hello", "octo/" + strings.Repeat("a", maxName+1), "@evil/x", "a:b/c",
	} {
		_, err := ParseRepo(bad)
		failed(t, err, pdk.HandlerFailed, "repo ")
	}
}

func TestClean(t *testing.T) {
	if got := clean("a\r\nb\x1b[31m\tc  d"); got != "a b [31m c d" {
		t.Errorf("%q", got)
	}
	if got := clean(strings.Repeat("ä", 1000)); len([]rune(got)) != maxSaid+1 {
		t.Errorf("%d characters", len([]rune(got)))
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"number":1,"url":"u","html_url":"h"}`, `[]`, `{"items":[{}],"total_count":1}`, "<html>", `{"message":"m","errors":["a",{"code":"c"}]}`, "1 2"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = words(raw)
		v, err := decode(raw)
		var e *pdk.Error
		if err != nil {
			if !errors.As(err, &e) || e.Code != pdk.HandlerFailed {
				t.Errorf("error %v", err)
			}
			return
		}
		if o, err := (answer{value: v}).object("number", "url"); err == nil && o.at("url") == "" && o["url"] != "" {
			t.Errorf("object %v without a url", o)
		}
		if items, err := list(v); err == nil && items == nil {
			t.Error("a list that is null")
		}
	})
}
