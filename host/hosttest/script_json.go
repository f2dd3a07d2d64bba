package hosttest

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// value is what stands at a path of the last body; the commands read stdout, so that the answer of `gantry` can be checked too.
func value(ts *testscript.TestScript, path string) any {
	v, err := lookup([]byte(ts.ReadFile("stdout")), path)
	ts.Check(err)
	return v
}

func cmdJQ(ts *testscript.TestScript, neg bool, args []string) {
	switch {
	case len(args) == 2 && args[0] == "-exists":
		if _, err := lookup([]byte(ts.ReadFile("stdout")), args[1]); (err == nil) == neg {
			ts.Fatalf("exists %s: %t", args[1], err == nil)
		}
	case len(args) == 3 && args[0] == "-len":
		v := value(ts, args[1])
		if n, ok := size(v); !ok || (strconv.Itoa(n) == args[2]) == neg {
			ts.Fatalf("%s has %d things: %s", args[1], n, compact(v))
		}
	case len(args) == 2:
		if v := value(ts, args[0]); same(v, args[1]) == neg {
			ts.Fatalf("%s is %s", args[0], compact(v))
		}
	default:
		ts.Fatalf("usage: [!] jq <path> <value>, [!] jq -exists <path> or [!] jq -len <path> <number>")
	}
}

func cmdMatch(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] match <path> <regexp>")
	}
	expect(ts, neg, args[0], text(value(ts, args[0])), args[1])
}

func cmdLike(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: like <path> <file>")
	}
	var want any
	if err := json.Unmarshal([]byte(ts.ReadFile(args[1])), &want); err != nil {
		ts.Fatalf("%s: %v", args[1], err)
	}
	ts.Check(like(value(ts, args[0]), want, ""))
}

func cmdSet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: set NAME <path> or set NAME header:<Name>")
	}
	if name, ok := strings.CutPrefix(args[1], "header:"); ok {
		ts.Setenv(args[0], answer(ts).Header.Get(name))
		return
	}
	ts.Setenv(args[0], text(value(ts, args[1])))
}
