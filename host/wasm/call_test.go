package wasm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gantry-packs/gantry/pdk/wire"
	"github.com/gantry-packs/gantry/registry"
)

func TestAnswer(t *testing.T) {
	r, bin := runner(t), guest(t)
	long := strings.Repeat("0123456789", 100_000) + "odd"
	for _, c := range []struct{ export, input, want string }{
		{"echo", `{"a":1}`, `{"a":1}`},
		{"echo", "", ""},
		{"echo", long, long},
		{"echo64", `{"a":1,"long":"enough"}`, `{"a":1,"long":"enough"}`},
		{"echo64", long, long},
		{"sum", `{"numbers":[1,2,3.5]}`, `{"count":3,"sum":6.5}`},
		{"noop", "x", ""},
		{"exit", "0", `{"done":true}`},
		{"errortaken", "", `{}`},
		{"setting", "region", "north"},
		{"setting", "unset", ""},
		{"setting", "empty", ""},
		{"setting", "secret", ""}, // the manifest doesn't list it
		{"upper", "quiet", `{"ok":"QUIET"}`},
		{"counted", "four", "4"},
		{"freetwice", "", "0 8 42"},
		{"talk", "", ""},
		{"logflood", "", ""},
		{"lognothing", "", ""},
		{"corrupt", "", "{}"},
	} {
		t.Run(c.export+" "+c.input[:min(len(c.input), 20)], func(t *testing.T) {
			if got := must(t, r, pack(bin, c.export), c.input); got != c.want {
				t.Errorf("got %.200q, want %.200q", got, c.want)
			}
		})
	}
}

func TestFailure(t *testing.T) {
	r, bin := runner(t), guest(t)
	for _, c := range []struct {
		export, input string
		code          wire.Code
		text          string
	}{
		{"crash", "", wire.HandlerFailed, "crashed: unreachable"}, // how Go ends after a panic
		{"trap", "", wire.HandlerFailed, "crashed: unreachable"},
		{"exit", "3", wire.HandlerFailed, "exited with status 3"},
		{"status", "7", wire.HandlerFailed, "status 7"},
		{"outside", "", wire.HandlerFailed, "outside of the host's memory"},
		{"across", "", wire.HandlerFailed, "outside of the host's memory"},
		{"variable", "", wire.HandlerFailed, "use memory_put"},
		{"burst", "", wire.Internal, "the log has the cause"},
		{"pollwrap", "", wire.Internal, "the log has the cause"}, // a panic of wazero's own
		{"takes", "", wire.HandlerFailed, "must take nothing"},
		{"wide", "", wire.HandlerFailed, "must take nothing"},
		{"missing", "", wire.HandlerFailed, "exports no function called missing"},
		{"memory", "", wire.HandlerFailed, "exports no function called memory"},
		{"errortwice", "", wire.HandlerFailed, "the second"},
		{"errorwide", "", wire.HandlerFailed, strings.Repeat("\u6f22", 1300)},
		{"errorbytes", "", wire.HandlerFailed, "bad \uFFFD"},
		{"errorthough", "after all", wire.HandlerFailed, "after all"},
	} {
		t.Run(c.export, func(t *testing.T) {
			_, err := do(t, r, pack(bin, c.export), c.input)
			refused(t, err, c.code, c.text)
		})
	}
}

func TestErrorCodes(t *testing.T) {
	r, p := runner(t), pack(guest(t), "error")
	own := map[wire.Code]bool{}
	for _, code := range []wire.Code{
		wire.InvalidInput, wire.InvalidOutput, wire.SchemaMismatch, wire.SessionUnavailable,
		wire.HandlerFailed, wire.ArtifactFailed, wire.Timeout, wire.Internal,
	} {
		own[code] = true
	}
	for _, code := range append(slices.Collect(maps.Keys(own)), wire.Unauthorized, wire.Forbidden, wire.NotFound, wire.Overloaded, wire.Canceled, "", "made_up") {
		_, err := do(t, r, p, fmt.Sprintf(`{"code":%q,"message":"the pack's words","details":{"n":1}}`, code))
		want := code
		if !own[code] {
			want = wire.HandlerFailed
		}
		refused(t, err, want, "the pack's words")
	}
	for input, text := range map[string]string{
		"plain text":   "plain text",
		"":             "without saying why",
		`{"code":"x"}`: `{"code":"x"}`,
		`{"code":"invalid_input","message":"m","details":"` + strings.Repeat("d", 50_000) + `"}`: "m",
		`{"code":"invalid_input","message":"m","details":"` + "\xff" + `"}`:                      "m",
		`{"code":"invalid_input","message":"` + strings.Repeat("\u6f22", 5000) + `"}`:            strings.Repeat("\u6f22", 1300),
		`{"code":"invalid_input","message":"` + strings.Repeat("m", 100_000) + `","details":[]}`: "mmm",
	} {
		_, err := do(t, r, p, input)
		code := wire.HandlerFailed
		if strings.Contains(input, "invalid_input") {
			code = wire.InvalidInput
		}
		refused(t, err, code, text)
		e := wire.As(err)
		if _, merr := json.Marshal(e); merr != nil || len(e.Message)+len(e.Details) > 3*maxGuestError {
			t.Errorf("%.60q: %d bytes of message, %d of details, %v", input, len(e.Message), len(e.Details), merr)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	r, bin := runner(t), guest(t)
	for range 3 {
		if got := must(t, r, pack(bin, "count"), ""); got != "1" {
			t.Errorf("a global counts %s calls", got)
		}
		must(t, r, pack(bin, "litter"), "1")
		if got := must(t, r, pack(bin, "search"), ""); got != "[]" {
			t.Errorf("found of an earlier call: %s", got)
		}
	}
}

func TestRandom(t *testing.T) {
	r, p := runner(t), pack(guest(t), "random")
	seen := map[string]bool{}
	for range 3 {
		var v map[string]any
		dec := json.NewDecoder(strings.NewReader(must(t, r, p, "")))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for kind, value := range v {
			key := fmt.Sprint(kind, value)
			if seen[key] {
				t.Errorf("%s is the same in two calls: %.80v", kind, value)
			}
			seen[key] = true
		}
	}
}

func TestClock(t *testing.T) {
	before := time.Now()
	out := must(t, runner(t), pack(guest(t), "clock"), "")
	wall, slept, _ := strings.Cut(out, " ")
	ms, err := strconv.ParseInt(wall, 10, 64)
	if err != nil || ms < before.UnixMilli() || ms > time.Now().UnixMilli() {
		t.Errorf("the guest's time is %s, outside of the call", wall)
	}
	if n, err := strconv.Atoi(slept); err != nil || n < 20 {
		t.Errorf("20 ms of sleep took %s ms", slept)
	}
}

func TestPermissions(t *testing.T) {
	r, bin := runner(t), guest(t)
	for name, q := range map[string]*registry.Permissions{"none": nil, "others": {LLM: true}} {
		t.Run(name, func(t *testing.T) {
			_, err := do(t, r, pack(bin, "noop", permissions(q)), "")
			refused(t, err, wire.HandlerFailed, "does not ask for permissions.memory")

			core := source(registry.Core) // shares its module with packs that may
			must(t, r, pack(bin, "noop", core, permissions(q)), "")
			out := must(t, r, pack(bin, "upper", core, permissions(q)), "x")
			if !strings.Contains(out, "permissions.memory") || strings.Contains(out, "X") {
				t.Errorf("upper answered %s", out)
			}
			_, err = do(t, r, pack(bin, "counted", core, permissions(q)), "x")
			refused(t, err, wire.HandlerFailed, "permissions.artifacts")
		})
	}
	t.Run("secrets", func(t *testing.T) {
		if out := must(t, r, pack(bin, "upper"), "fail"); strings.Contains(out, "secret") || !strings.Contains(out, "internal") {
			t.Errorf("a pack reads %s", out)
		}
	})
}
