package api

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
)

func TestPackEntries(t *testing.T) {
	s := start(t)
	reader := s.token("reader", "packs:read")
	var list struct {
		Packs []map[string]any
		Count int
	}
	if err := json.Unmarshal(s.want(200, "", "GET", "/api/v1/packs", reader, "").body, &list); err != nil {
		t.Fatal(err)
	}
	if list.Count != 4 || len(list.Packs) != 4 {
		t.Fatalf("count %d, %d packs", list.Count, len(list.Packs))
	}
	first := list.Packs[0]
	for _, name := range []string{"name", "version", "description", "source", "handler", "async", "session", "input_schema", "output_schema", "permissions"} {
		if first[name] == nil {
			t.Errorf("no %s in %v", name, first)
		}
	}
	if first["name"] != "test.echo" || first["source"] != "core" || first["session"] != "none" || first["examples"] != nil {
		t.Errorf("entry in the list: %v", first)
	}
	one := s.want(200, "", "GET", "/api/v1/packs/test.echo", reader, "")
	if one.field(t, "examples") == nil {
		t.Errorf("one pack has no examples: %s", one.body)
	}
	if !strings.Contains(string(one.body), `{"type":"object"}`) {
		t.Errorf("a missing output_schema must read as any object: %s", one.body)
	}
	s.want(404, wire.PackNotFound, "GET", "/api/v1/packs/none", reader, "")
}

func TestCallPack(t *testing.T) {
	s := start(t)
	caller := s.token("caller", "packs:call")
	a := s.want(200, "", "POST", "/api/v1/packs/test.echo", caller, `{"text":"hi"}`, "X-Request-Id: my-id")
	if got, _ := json.Marshal(a.field(t, "output")); string(got) != `{"text":"hi"}` || a.field(t, "pack") != "test.echo" || a.field(t, "version") != "v1" {
		t.Errorf("envelope: %s", a.body)
	}
	for _, empty := range []string{"", "  \n"} {
		s.want(200, "", "POST", "/api/v1/packs/test.echo", caller, empty)
	}
	s.want(404, wire.PackNotFound, "POST", "/api/v1/packs/none", caller, "{}")
	s.want(400, wire.InvalidInput, "POST", "/api/v1/packs/test.echo", caller, `{"text":7}`)
	failed := s.want(502, wire.HandlerFailed, "POST", "/api/v1/packs/test.fail", caller, "{}")
	if failed.field(t, "pack") != "test.fail" || !strings.Contains(string(failed.body), `"details":{"steps_completed":2}`) {
		t.Errorf("a failed call: %s", failed.body)
	}
	if a := s.want(500, wire.Internal, "POST", "/api/v1/packs/test.panic", caller, "{}"); strings.Contains(string(a.body), "secret") {
		t.Errorf("the panic's words: %s", a.body)
	}
	s.want(403, wire.Forbidden, "POST", "/api/v1/packs/test.echo", s.token("reader", "packs:read"), "{}")
	rows := s.rows()
	if len(rows) != 8 {
		t.Fatalf("%d audit rows of 8 calls: %+v", len(rows), rows)
	}
	for _, row := range rows {
		if row.Action != "pack.call" || row.Pack == "" || row.RequestID == "" {
			t.Errorf("row %+v", row)
		}
	}
	if rows[7].RequestID != "my-id" || rows[0].Error != "forbidden" || rows[0].Subject != "reader" {
		t.Errorf("first and last row: %+v, %+v", rows[7], rows[0])
	}
}

// A caller who hangs up ends the call, and its row says so.
func TestHangUp(t *testing.T) {
	s := start(t)
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, head("POST", "/api/v1/packs/test.wait", s.token("caller", "packs:call"))+"Content-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(serveTimeout); !strings.Contains(string(s.do("GET", "/metrics", "", "").body), "gantry_calls_running 1"); {
		if time.Now().After(end) {
			t.Fatal("the call never began")
		}
	}
	conn.Close()
	for end := time.Now().Add(serveTimeout); len(s.rows()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the call went on without its caller")
		}
	}
	if row := s.rows()[0]; row.Error != "canceled" {
		t.Errorf("row of the call: %+v", row)
	}
}

// One connection, two requests: what a handler left unread of the first must not become part of the second.
func TestKeepAlive(t *testing.T) {
	s := start(t)
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(serveTimeout)); err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(conn, "POST /none HTTP/1.1\r\nHost: x\r\nContent-Length: 30\r\n\r\nGET /version HTTP/1.1\r\nHost: x\r\n"+
		"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(bufio.NewReader(conn))
	if err != nil || strings.Contains(string(got), `"go":`) {
		t.Errorf("%v: %q", err, got)
	}
}
