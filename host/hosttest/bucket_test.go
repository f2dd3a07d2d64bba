package hosttest

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const bucketSecret = "bucket-secret-of-the-test"

// startBucket runs the S3 server that make peers builds, with one bucket, and answers its URL for GANTRY_ARTIFACTS_URL.
func startBucket(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "artifacts"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	peer := exec.Command("../../bin/versitygw", "--quiet", "--port", address, "--access", "gantry", "--secret", bucketSecret, "posix", dir)
	if err := peer.Start(); err != nil {
		t.Fatalf("starting the S3 server, run make peers first: %v", err)
	}
	t.Cleanup(func() { _ = peer.Process.Kill(); _ = peer.Wait() })
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r, err := http.Get("http://" + address); err == nil {
			r.Body.Close()
			return "s3://artifacts/prefix?endpoint=http://" + address + "&path_style=true"
		} else if time.Now().After(deadline) {
			t.Fatalf("the S3 server doesn't answer: %v", err)
		}
	}
}

// A service whose artifacts are in a bucket behaves like any other.
func TestBucket(t *testing.T) {
	s := Start(t, Options{Env: map[string]string{
		"GANTRY_ARTIFACTS_URL": startBucket(t), "GANTRY_ARTIFACTS_ACCESS_KEY": "gantry", "GANTRY_ARTIFACTS_SECRET_KEY": bucketSecret,
	}})
	s.Target().Scripts(t, "testdata/artifacts.txtar", "testdata/first-call.txtar")
	if strings.Contains(s.Log(), bucketSecret) {
		t.Error("the bucket's secret key is in the log")
	}
}
