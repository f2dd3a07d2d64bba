package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/pdk/wire"
)

const peerSecret = "the-secret-of-the-peer"

// peer is a running S3 server that checks signatures.
type peer struct {
	config.Bucket
	process *exec.Cmd
}

func startPeer(t *testing.T) *peer {
	t.Helper()
	binary, err := filepath.Abs("../../bin/versitygw")
	if err == nil {
		_, err = os.Stat(binary)
	}
	if err != nil {
		t.Fatalf("the S3 server is missing, run make peers first: %v", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	p := &peer{Bucket: config.Bucket{Name: "artifacts", Prefix: "a/b", Endpoint: "http://" + address, Region: "us-east-1", PathStyle: "true",
		AccessKey: "gantry", SecretKey: peerSecret}}
	p.process = exec.Command(binary, "--quiet", "--port", address, "--access", p.AccessKey, "--secret", peerSecret, "posix", t.TempDir())
	if err := p.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if r, err := http.Get(p.Endpoint); err == nil {
			r.Body.Close()
			break
		} else if time.Now().After(deadline) {
			t.Fatalf("the S3 server doesn't answer: %v", err)
		}
	}
	return p
}

func (p *peer) kill() {
	_ = p.process.Process.Kill()
	_ = p.process.Wait()
}

// world makes a bucket and a world upon it.
func (p *peer) world(t *testing.T, name string) *world {
	t.Helper()
	c := p.Bucket
	c.Name = name
	if _, err := OpenS3(t.Context(), c); err == nil || !strings.Contains(err.Error(), "there is no bucket") {
		t.Fatalf("a missing bucket: %v", err)
	}
	if err := makeBucket(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	blobs, err := OpenS3(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	w.blobs = blobs
	w.stored = blobs.(*bucket).stored
	return w
}

func (b *bucket) stored(t testing.TB) (keys []string) {
	for o := range b.client.ListObjects(t.Context(), b.name, minio.ListObjectsOptions{Recursive: true}) {
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		keys = append(keys, o.Key)
	}
	for u := range b.client.ListIncompleteUploads(t.Context(), b.name, "", true) {
		if u.Err != nil {
			t.Fatal(u.Err)
		}
		keys = append(keys, "half: "+u.Key)
	}
	return keys
}

func makeBucket(ctx context.Context, c config.Bucket) error {
	client, err := clientOf(c)
	if err != nil {
		return err
	}
	return client.MakeBucket(ctx, c.Name, minio.MakeBucketOptions{Region: c.Region})
}

func TestS3(t *testing.T) {
	p, n := startPeer(t), 0
	next := func(t *testing.T) *world {
		n++
		return p.world(t, fmt.Sprint("bucket-", n))
	}
	suite(t, next)
	t.Run("strangers stay", func(t *testing.T) { testStrangers(t, next(t)) })
	t.Run("half an upload", func(t *testing.T) { testHalfUpload(t, next(t)) })
	t.Run("wrong keys", func(t *testing.T) {
		c := p.Bucket
		c.Name, c.SecretKey = "bucket-1", "another-secret"
		_, err := OpenS3(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "refuses") || strings.Contains(err.Error(), "another-secret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("killed", func(t *testing.T) { testKilled(t, p, next(t)) })
}

// testStrangers has objects in the bucket that are none of ours.
func testStrangers(t *testing.T, w *world) {
	s, b := w.open(t), w.blobs.(*bucket)
	for _, key := range []string{hashOf("x"), "a/b/note.txt", "a/b/zz/" + hashOf("x"), "c/" + hashOf("x")[:2] + "/" + hashOf("x")} {
		if _, err := b.client.PutObject(t.Context(), b.name, key, strings.NewReader("x"), 1, minio.PutObjectOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w.advance(2 * leftoverAge)
	if err := s.sweep(t.Context()); err != nil || len(w.stored(t)) != 4 {
		t.Errorf("%v, %v", w.stored(t), err)
	}
}

// testHalfUpload leaves what a service that died in the middle of a body leaves.
func testHalfUpload(t *testing.T, w *world) {
	s, b := w.open(t), w.blobs.(*bucket)
	core := minio.Core{Client: b.client}
	if _, err := core.NewMultipartUpload(t.Context(), b.name, b.object(hashOf("half")), minio.PutObjectOptions{}); err != nil {
		t.Fatal(err)
	}
	if len(w.stored(t)) != 1 {
		t.Fatalf("%v", w.stored(t))
	}
	w.advance(2 * leftoverAge)
	if err := s.sweep(t.Context()); err != nil || len(w.stored(t)) != 0 {
		t.Errorf("%v, %v", w.stored(t), err)
	}
}

// testKilled ends the server between the reads of an open artifact and in the middle of a body.
func testKilled(t *testing.T, p *peer, w *world) {
	s := w.open(t)
	e := put(t, s, "a.b", "ann", "x.txt", strings.Repeat("long ", 4<<20))
	_, r, err := s.Open(t.Context(), ann, e.Key)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	told := func(what string, err error) {
		t.Helper()
		var e *wire.Error
		if !errors.As(err, &e) || e.Code != wire.ArtifactFailed || strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), p.Name) {
			t.Errorf("%s: %v", what, err)
		}
	}
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 2*partSize)), eofThen(p.kill))
	_, err = s.Put(t.Context(), Put{Pack: "a.b", Owner: "ann", Body: body})
	told("put", err)
	_, err = io.Copy(io.Discard, r)
	told("read", err)
	_, _, err = s.Open(t.Context(), ann, e.Key)
	told("open", err)
	if err := s.Delete(t.Context(), ann, e.Key); err != nil {
		t.Errorf("an entry can go without the bucket: %v", err)
	}
	_, err = OpenS3(t.Context(), p.Bucket)
	if err == nil || !strings.Contains(err.Error(), "cannot be reached") || strings.Contains(err.Error(), peerSecret) {
		t.Errorf("a start without the server: %v", err)
	}
}
