package hosttest

import (
	"net/http"
	"testing"
	"time"
)

// TestAuth has what scripts can't: the passing of time, and a limit that all callers of one address share.
func TestAuth(t *testing.T) {
	s := Start(t, Options{})
	t.Run("expired token", func(t *testing.T) { t.Parallel(); expiredToken(t, s) })
	t.Run("login limit", func(t *testing.T) { t.Parallel(); loginLimit(t, s) })
}

// expiredToken: a token ends by itself when its time is over, and no other with it.
func expiredToken(t *testing.T, s *Server) {
	minted := s.MustDo("POST", "/api/v1/auth/tokens", s.AdminToken(), `{"name":"short","scopes":["packs:read"],"ttl":"2s"}`)
	token, _ := minted.At("token").(string)
	if a := s.MustDo("GET", "/api/v1/packs", token, ""); a.Status != http.StatusOK {
		t.Fatalf("a fresh token: %s", a)
	}
	for end := time.Now().Add(time.Minute); ; {
		a := s.MustDo("GET", "/api/v1/packs", token, "")
		if a.Status == http.StatusUnauthorized && a.Code() == "unauthorized" {
			break
		}
		if a.Status != http.StatusOK || time.Now().After(end) {
			t.Fatalf("a token of two seconds: %s", a)
		}
		time.Sleep(50 * time.Millisecond) // only so that the wait costs little
	}
	if a := s.MustDo("GET", "/api/v1/packs", s.AdminToken(), ""); a.Status != http.StatusOK {
		t.Errorf("another token: %s", a)
	}
}

// loginLimit: ten failures a minute, then even the right password has to wait.
func loginLimit(t *testing.T, s *Server) {
	login := func(password string) Answer {
		return s.MustDo("POST", "/api/v1/auth/login", "", `{"username":"admin","password":"`+password+`"}`)
	}
	for i := range 10 {
		if a := login("wrong"); a.Code() != "unauthorized" {
			t.Errorf("failure %d: %s", i+1, a)
		}
	}
	for _, password := range []string{"wrong", AdminPassword} {
		a := login(password)
		if err := wellMadeWith("POST", a, "rate_limited"); err != nil {
			t.Errorf("after ten failures: %v", err)
		}
		if a.Header.Get("Retry-After") == "" {
			t.Errorf("the answer does not say when to try again: %v", a.Header)
		}
	}
}
