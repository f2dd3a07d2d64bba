package artifact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/gantry-packs/gantry/host/config"
	"github.com/gantry-packs/gantry/host/egress"
)

const (
	partSize       = 5 << 20 // bytes, the least that S3 allows; a Put holds two parts at most
	bucketAttempts = 3       // of a request that failed in a way that may pass
	bucketTimeout  = 15 * time.Second
)

// bucket keeps bytes in objects, <prefix>/<first 2 digits>/<hash>.
type bucket struct {
	client *minio.Client
	name   string
	prefix string
}

// OpenS3 opens a bucket. The error, one line, says what is wrong when it isn't there or can't be reached with these keys.
func OpenS3(ctx context.Context, c config.Bucket) (Blobs, error) {
	client, err := clientOf(c)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, bucketTimeout)
	defer cancel()
	there, err := client.BucketExists(ctx, c.Name)
	switch {
	case err != nil && minio.ToErrorResponse(err).StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%s refuses the access key and the secret key for bucket %q", c.Endpoint, c.Name)
	case err != nil:
		return nil, fmt.Errorf("bucket %q at %s cannot be reached: %w", c.Name, c.Endpoint, err)
	case !there:
		return nil, fmt.Errorf("there is no bucket %q at %s; create it", c.Name, c.Endpoint)
	}
	return &bucket{client: client, name: c.Name, prefix: c.Prefix}, nil
}

// clientOf makes a client that reaches the endpoint: the operator's word lets that be private, and nothing else.
func clientOf(c config.Bucket) (*minio.Client, error) {
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, fmt.Errorf("reading the endpoint: %w", err)
	}
	trusted := []string{c.Endpoint}
	if net.ParseIP(endpoint.Hostname()) == nil { // an address has no names below it
		trusted = append(trusted, endpoint.Scheme+"://"+c.Name+"."+endpoint.Host)
	}
	guard, err := egress.New(egress.Options{Trusted: trusted})
	if err != nil {
		return nil, err
	}
	return minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.NewStaticV4(c.AccessKey, c.SecretKey.Reveal(), ""), Secure: endpoint.Scheme == "https", Region: c.Region,
		Transport:    guard.Client(egress.ClientOptions{}).Transport,
		BucketLookup: map[string]minio.BucketLookupType{"true": minio.BucketLookupPath, "false": minio.BucketLookupDNS}[c.PathStyle],
		MaxRetries:   bucketAttempts,
	})
}

func (b *bucket) object(name string) string { return path.Join(b.prefix, name[:2], name) }

// Put sends a body that fits into one part as a whole, and a longer one part by part. S3 shows neither before it is complete.
func (b *bucket) Put(ctx context.Context, name, contentType string, body io.Reader) error {
	watched := &watched{body: body}
	first, err := io.ReadAll(io.LimitReader(watched, partSize))
	if err != nil {
		return err
	}
	whole, size := io.Reader(bytes.NewReader(first)), int64(len(first))
	if size == partSize {
		whole, size = io.MultiReader(whole, watched), -1
	}
	_, err = b.client.PutObject(ctx, b.name, b.object(name), whole, size, minio.PutObjectOptions{ContentType: contentType, PartSize: partSize})
	switch {
	case err == nil:
		return nil
	case watched.err != nil:
		return watched.err
	}
	// S3 may have stored what it didn't confirm; what can't be removed now is swept.
	gone, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTimeout)
	defer cancel()
	_ = b.Remove(gone, name)
	return said(ctx, err)
}

// watched remembers how its body failed, and fails for good.
type watched struct {
	body io.Reader
	err  error
}

func (w *watched) Read(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.body.Read(p)
	if err != nil && err != io.EOF {
		w.err = err
	}
	return n, err
}

// Open asks for the object's size and tag; what is read later is of that very object.
func (b *bucket) Open(ctx context.Context, name string) (io.ReadSeekCloser, error) {
	var o minio.GetObjectOptions
	o.Set("Accept-Encoding", "identity") // a packed answer would have no length
	object, err := b.client.GetObject(ctx, b.name, b.object(name), o)
	if err != nil {
		return nil, said(ctx, err)
	}
	if _, err := object.Stat(); err != nil {
		_ = object.Close()
		if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
			return nil, fs.ErrNotExist
		}
		return nil, said(ctx, err)
	}
	return &reading{object, ctx}, nil
}

// reading tells the readers of an object no more than the caller may know.
type reading struct {
	*minio.Object
	ctx context.Context
}

func (r *reading) Read(p []byte) (int, error) {
	n, err := r.Object.Read(p)
	return n, r.told(err)
}

func (r *reading) Seek(offset int64, whence int) (int64, error) {
	n, err := r.Object.Seek(offset, whence)
	return n, r.told(err)
}

func (r *reading) told(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return unreadable(said(r.ctx, err))
}

func (b *bucket) Remove(ctx context.Context, name string) error {
	return b.client.RemoveObject(ctx, b.name, b.object(name), minio.RemoveObjectOptions{}) // content with none
}

// Sweep lists objects and uploads. Whatever isn't named as Put names it is somebody else's and stays.
func (b *bucket) Sweep(ctx context.Context, before time.Time, dead func(name string) (bool, error)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listings
	prefix := ""
	if b.prefix != "" {
		prefix = b.prefix + "/"
	}
	var errs []error
	sweep := func(key string, at time.Time, remove func() error) {
		name := key[strings.LastIndex(key, "/")+1:]
		if !isHash(name) || b.object(name) != key || !at.Before(before) {
			return
		}
		gone, err := dead(name)
		if gone && err == nil {
			err = remove()
		}
		errs = append(errs, err)
	}
	for o := range b.client.ListObjects(ctx, b.name, minio.ListObjectsOptions{Prefix: prefix, Recursive: true}) {
		if errs = append(errs, o.Err); o.Err == nil {
			sweep(o.Key, o.LastModified, func() error { return b.client.RemoveObject(ctx, b.name, o.Key, minio.RemoveObjectOptions{}) })
		}
	}
	for u := range b.client.ListIncompleteUploads(ctx, b.name, prefix, true) {
		if errs = append(errs, u.Err); u.Err == nil {
			sweep(u.Key, u.Initiated, func() error { return b.client.RemoveIncompleteUpload(ctx, b.name, u.Key) })
		}
	}
	return errors.Join(errs...)
}

// said hides what the network and the client say of time limits of their own: to the Store those are the caller's.
func said(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.New(err.Error())
}
