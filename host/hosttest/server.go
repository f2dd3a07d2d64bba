package hosttest

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// AdminPassword is the admin's password on every test server.
const AdminPassword = "correct horse battery staple"

const (
	startLimit = 2 * time.Minute  // a cold start compiles the core packs; on a loaded machine that takes long
	stopLimit  = 60 * time.Second // longer than the default shutdown grace
)

// Options say how a test server differs from the default. The zero value is the default.
type Options struct {
	Dir string            // data directory; default: a fresh one
	Env map[string]string // further variables, for example GANTRY_MAX_CALLS
}

// Server is a running program. Its methods fail the test by themselves: they return no errors.
type Server struct {
	URL     string // http://127.0.0.1:port; another one after Restart
	DataDir string
	TempDir string // what the program sees as the system's temporary directory
	Binary  string

	t     testing.TB
	env   []string
	admin string
	log   *syncBuffer
	http  *http.Client
	proc  *process
}

// process is one life of the program.
type process struct {
	cmd      *exec.Cmd
	done     chan struct{} // closed when it has ended
	err      error         // how it ended; read after done
	expected bool          // the test asked for its end
}

// Start runs the program until the end of the test. The test fails if the program dies by itself, or if its log holds a Go
// panic, a data race or a line of level ERROR.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := &Server{t: t, Binary: Build(t), DataDir: o.Dir, TempDir: t.TempDir(), log: &syncBuffer{}, http: newClient()}
	if s.DataDir == "" {
		s.DataDir = filepath.Join(t.TempDir(), "data")
	}
	s.env = []string{
		"HOME=" + t.TempDir(), "TMPDIR=" + s.TempDir, "PATH=" + os.Getenv("PATH"),
		"GANTRY_DATA_DIR=" + s.DataDir, "GANTRY_ADMIN_PASSWORD=" + AdminPassword,
	}
	for name, value := range o.Env {
		s.env = append(s.env, name+"="+value)
	}
	s.launch()
	t.Cleanup(s.finish)
	s.login()
	return s
}

// launch starts a process and waits for its ready line.
func (s *Server) launch() {
	s.t.Helper()
	cmd := exec.Command(s.Binary, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = s.env
	cmd.Dir = s.TempDir
	ready := newReadyWriter(s.log)
	cmd.Stdout, cmd.Stderr = ready, ready // the same value, so writes come one at a time
	if err := cmd.Start(); err != nil {
		s.t.Fatalf("starting the program: %v", err)
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	s.proc = p
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	select {
	case s.URL = <-ready.url:
	case <-p.done:
		p.expected = true // reported here, not again at the end
		s.t.Fatalf("the program ended before it was ready: %v\n%s", p.err, s.log)
	case <-time.After(startLimit):
		s.Kill9()
		s.t.Fatalf("no ready line within %s\n%s", startLimit, s.log)
	}
}

// Stop ends the program the polite way and checks that it ended well.
func (s *Server) Stop() {
	s.t.Helper()
	s.proc.expected = true
	s.http.CloseIdleConnections()
	if !s.Running() {
		return
	}
	_ = s.proc.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.proc.done:
		if s.proc.err != nil {
			s.t.Errorf("stopped, the program ended with %v\n%s", s.proc.err, tail(s.log.String()))
		}
	case <-time.After(stopLimit):
		s.Kill9()
		s.t.Errorf("the program did not stop within %s of SIGTERM", stopLimit)
	}
}

// Kill9 ends the program as a power cut would, and waits until it is gone.
func (s *Server) Kill9() {
	s.proc.expected = true
	s.http.CloseIdleConnections()
	_ = s.proc.cmd.Process.Kill()
	<-s.proc.done
}

// Restart starts the program again on the same data directory, after a Stop if it still runs.
func (s *Server) Restart() {
	s.t.Helper()
	if s.Running() {
		s.Stop()
	}
	s.launch()
}

// Running says whether the process lives.
func (s *Server) Running() bool {
	select {
	case <-s.proc.done:
		return false
	default:
		return true
	}
}

// Log is everything that the program has printed so far, in all its lives.
func (s *Server) Log() string { return s.log.String() }

// RSS is the process's resident memory in bytes; the test is skipped where the system does not tell.
func (s *Server) RSS() int64 {
	s.t.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.proc.cmd.Process.Pid) + "/status")
	if err != nil {
		s.t.Skipf("no resident memory on %s: %v", runtime.GOOS, err)
	}
	for line := range strings.Lines(string(status)) {
		if f := strings.Fields(line); len(f) == 3 && f[0] == "VmRSS:" {
			kib, _ := strconv.ParseInt(f[1], 10, 64)
			return kib << 10
		}
	}
	s.t.Fatal("no VmRSS in /proc/<pid>/status")
	return 0
}

// finish is the end of every test with a server.
func (s *Server) finish() {
	if !s.Running() && !s.proc.expected {
		s.t.Errorf("the program died by itself: %v\n%s", s.proc.err, tail(s.log.String()))
	}
	s.Stop()
	if text := trouble(s.log.String()); text != "" {
		s.t.Errorf("the program's log holds an error, a Go panic or a race:\n%s", head(text))
	}
}
