package hosttest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// hangUpTries bounds the search for a call that is really in the middle when its client goes.
const hangUpTries = 200

// TestHangUp: clients that go, or never come to the point, hurt nobody else and are on record.
func TestHangUp(t *testing.T) {
	s := Start(t, Options{})
	t.Run("half a call", func(t *testing.T) { t.Parallel(); halfSent(t, s) })
	t.Run("whole call", func(t *testing.T) { t.Parallel(); hungUp(t, s) })
}

// hungUp: a client that goes in the middle of its call leaves an audit row that says so, and no artifact.
func hungUp(t *testing.T, s *Server) {
	token := s.Mint("hanger", "packs:call", "packs:read")
	body := compact(map[string]any{"name": "big.txt", "content": strings.Repeat("x", 8<<20)})
	head := fmt.Sprintf("POST /api/v1/packs/artifact.put HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n", token, len(body))
	var rows []auditRow
	for try := range hangUpTries {
		hangUp(t, s, head+body)
		rows = auditRows(t, s, url.Values{"subject": {"hanger"}, "status": {"error"}})
		if len(rows) > 0 {
			t.Logf("seen after %d calls", try+1)
			break
		}
	}
	if len(rows) == 0 {
		t.Fatalf("%d clients hung up and no call failed", hangUpTries)
	}
	for _, row := range rows {
		if row.Error != "canceled" || row.Pack != "artifact.put" {
			t.Errorf("the audit row of a call whose client hung up: %+v", row)
		}
	}
	if a := s.MustDo("POST", "/api/v1/packs/artifact.put", token, `{"name":"a.txt","content":"b"}`); a.Status != http.StatusOK {
		t.Errorf("afterwards: %s", a)
	}
}

// hangUp sends a whole request and closes the connection without waiting for the answer.
func hangUp(t *testing.T, s *Server, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte(request)); err != nil {
		t.Error(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// halfSent: clients that begin and never end get no more than their time, and hold nobody up meanwhile.
func halfSent(t *testing.T, s *Server) {
	token := s.Mint("slow", "packs:call")
	half := "POST /api/v1/packs/plan.save HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer " + token +
		"\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{\"intent\":"
	var last net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, half); err != nil {
			t.Fatal(err)
		}
		last = conn
	}
	for _, who := range []string{token, s.AdminToken()} {
		if a := s.MustDo("POST", "/api/v1/packs/plan.save", who, `{"intent":"i","steps":["s"]}`); a.Status != http.StatusOK {
			t.Errorf("beside half-sent calls: %s", a)
		}
	}
	if err := last.SetReadDeadline(time.Now().Add(requestLimit)); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(last), nil)
	if err != nil {
		t.Fatalf("the half-sent call got no answer: %v", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("the half-sent call was answered %s", resp.Status)
	}
}

// TestOverload: calls over the caps are refused with a code that tells the caller to come back, and afterwards all is well.
func TestOverload(t *testing.T) {
	s := Start(t, Options{Env: map[string]string{
		"GANTRY_MAX_CALLS": "2", "GANTRY_MAX_CALLS_PER_CALLER": "1", "GANTRY_CALL_QUEUE": "2", "GANTRY_CALL_QUEUE_WAIT": "100ms",
	}})
	one := []string{s.Mint("greedy", "packs:call")}
	var many []string
	for i := range 16 {
		many = append(many, s.Mint(fmt.Sprintf("caller-%d", i), "packs:call"))
	}
	for _, c := range []struct {
		name, want string
		tokens     []string
	}{{"one caller", "rate_limited", one}, {"many callers", "overloaded", many}} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[string]int{}
			for round := 0; seen[c.want] == 0; round++ {
				if round == 20 {
					t.Fatalf("in 20 rounds nothing was %s: %v", c.want, seen)
				}
				for code, n := range burst(t, s, c.tokens) {
					seen[code] += n
				}
			}
			t.Logf("%v", seen)
			for _, token := range c.tokens {
				if a := s.MustDo("POST", "/api/v1/packs/artifact.put", token, `{"name":"a.txt","content":"b"}`); a.Status != http.StatusOK {
					t.Errorf("after the burst: %s", a)
				}
			}
		})
	}
}

// burst makes many calls at once and counts their codes; every one must be answered, and well.
func burst(t *testing.T, s *Server, tokens []string) map[string]int {
	const calls = 48
	body := compact(map[string]any{"name": "big.txt", "content": strings.Repeat("y", 1<<20)})
	var mu sync.Mutex
	var wg sync.WaitGroup
	seen := map[string]int{}
	begin := make(chan struct{})
	for i := range calls {
		wg.Go(func() {
			<-begin
			a, err := s.Do("POST", "/api/v1/packs/artifact.put", tokens[i%len(tokens)], strings.NewReader(body))
			if err == nil {
				err = wellMadeWith("POST", a, "", "rate_limited", "overloaded")
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			seen[a.Code()]++
		})
	}
	started := time.Now()
	close(begin)
	wg.Wait()
	t.Logf("%d calls at once: all answered after %s", calls, time.Since(started).Round(time.Millisecond))
	return seen
}
