package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/gantry-packs/gantry/host"
	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/egress"
	"github.com/gantry-packs/gantry/plugins"
	"github.com/gantry-packs/gantry/registry"
)

// The verdicts of a check.
const (
	verdictOK   = "ok"
	verdictWarn = "warn" // Gantry runs, but something should be looked at
	verdictFail = "fail" // Gantry would not run, or not safely
)

const (
	needDisk    = 256 << 20 // bytes free: the compile cache and room for a day of audit rows
	wantDisk    = 2 << 30
	probeWait   = 3 * time.Second
	clockLeeway = time.Minute
)

// finding is what a check found and, unless all is well, what to do.
type finding struct{ verdict, text string }

func ok(format string, a ...any) finding   { return finding{verdictOK, fmt.Sprintf(format, a...)} }
func warn(format string, a ...any) finding { return finding{verdictWarn, fmt.Sprintf(format, a...)} }
func bad(format string, a ...any) finding  { return finding{verdictFail, fmt.Sprintf(format, a...)} }

type doctorCommand struct {
	DataDir string `help:"The data dir to look at ($$GANTRY_DATA_DIR)." placeholder:"DIR"`
}

// examination is what the checks work on.
type examination struct {
	p   *process
	cfg config.Config
}

// checks are run in this order.
var checks = []struct {
	name string
	run  func(examination, context.Context) finding
}{
	{"variables", examination.variables},
	{"data dir", examination.dataDir},
	{"disk", examination.disk},
	{"clock", examination.clock},
	{"core packs", examination.core},
	{"engine", examination.engine},
	{"port", examination.port},
	{"go", examination.toolchain},
}

// Run prints one line a check and fails if one did.
func (c *doctorCommand) Run(ctx context.Context, p *process) error {
	cfg, err := settings(with(p.env, "GANTRY_DATA_DIR", c.DataDir))
	if err != nil {
		return err
	}
	failed := false
	for _, check := range checks {
		f := check.run(examination{p, cfg}, ctx)
		failed = failed || f.verdict == verdictFail
		if _, err := fmt.Fprintf(p.out, "%-4s  %-10s  %s\n", f.verdict, check.name, printable(f.text)); err != nil {
			return err
		}
	}
	if failed {
		return errReported
	}
	return nil
}

func (e examination) variables(context.Context) finding {
	guarded := egress.Options{Allow: e.cfg.EgressEntries(), Trusted: []string{e.cfg.StockBaseURL, e.cfg.ForgeAPIURL}}
	if _, err := egress.New(guarded); err != nil {
		return bad("%v", err)
	}
	if names := config.Unknown(); len(names) > 0 {
		return warn("no variable is called %s: gantry config lists them all", strings.Join(names, ", "))
	}
	return ok("all are well-formed")
}

// core looks whether the binary holds the module of the core packs.
func (examination) core(context.Context) finding {
	module, err := plugins.Core()
	if err != nil {
		return bad("%v", err)
	}
	return ok("core.wasm is built in: %.1f MB, sha256 %.12s", float64(len(module))/1e6, plugins.CoreDigest())
}

// engine runs a core pack's first example in a host of its own, which leaves nothing behind.
func (e examination) engine(ctx context.Context) finding {
	var result finding
	err := e.p.err.During("running a pack", func(func(string)) error {
		return throwaway(ctx, e.p, func(h *host.Host) (err error) {
			result, err = tryExample(ctx, h)
			return err
		})
	})
	if err != nil {
		return bad("a pack doesn't run: %v", err)
	}
	return result
}

// tryExample runs the first example of a core pack that is expected to succeed.
func tryExample(ctx context.Context, h *host.Host) (finding, error) {
	for _, pack := range h.Packs.List() {
		for _, example := range pack.Examples {
			if pack.Handler.Type != registry.Wasm || example.ExpectedError != "" {
				continue
			}
			start := time.Now()
			differ, err := runExample(ctx, h, pack.Name, example)
			if err != nil {
				return finding{}, err
			}
			if len(differ) > 0 {
				return bad("%s ran, but not as its example says: %s", pack.Name, differ[0]), nil
			}
			return ok("%s ran in %d ms, its compilation included", pack.Name, time.Since(start).Milliseconds()), nil
		}
	}
	return bad("no core pack has an example to run"), nil
}

// port looks whether the port is free, or Gantry itself answers there.
func (e examination) port(ctx context.Context) finding {
	l, err := net.Listen("tcp", e.cfg.Listen)
	if err == nil {
		defer l.Close()
		return ok("%s is free", e.cfg.Listen)
	}
	if !errors.Is(err, syscall.EADDRINUSE) {
		return bad("%s can't be listened on: %v", e.cfg.Listen, err)
	}
	_, port, _ := net.SplitHostPort(e.cfg.Listen)
	said, err := fetch(ctx, "http://"+net.JoinHostPort("127.0.0.1", port)+"/version")
	if err != nil || !strings.Contains(said, "version") {
		return bad("%s is held by another program: stop it, or set GANTRY_LISTEN", e.cfg.Listen)
	}
	return ok("Gantry answers on %s: %s", e.cfg.Listen, strings.TrimSpace(said))
}

// fetch gets a short text from a program on this machine.
func fetch(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", errors.New(resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxShown))
	return string(b), err
}

// toolchain looks for Go, which only the making of packs needs.
func (examination) toolchain(ctx context.Context) finding {
	program, err := exec.LookPath("go")
	if err != nil {
		return warn("not in PATH: only gantry pack build needs it; get it from https://go.dev/dl")
	}
	cmd := exec.CommandContext(ctx, program, "env", "GOVERSION")
	cmd.Dir = os.TempDir() // away from any go.mod that could ask for another version
	out, err := cmd.Output()
	if err != nil {
		return warn("%s doesn't answer: %v", program, err)
	}
	have := strings.TrimSpace(string(out))
	need, err := goVersionLine()
	if err != nil {
		return bad("%v", err)
	}
	if olderGo(have, "go"+need) {
		return warn("%s is older than go%s, which gantry pack build needs: get it from https://go.dev/dl", have, need)
	}
	return ok("%s", have)
}
