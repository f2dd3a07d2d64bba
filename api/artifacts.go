package api

import (
	"errors"
	"io"
	"net/http"

	"github.com/gantry-packs/gantry/host/artifact"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// uploadPack is what stands as the producing pack of an uploaded file.
const uploadPack = "upload"

const (
	uploadType    = "multipart/form-data"
	uploadField   = "file"
	maxUpload     = artifact.MaxSize + 1<<20 // the file, and what multipart puts around it
	maxUploadPart = 16                       // parts that are looked at for the file
)

type artifactPage struct {
	Artifacts  []wire.Artifact `json:"artifacts"`
	NextCursor string          `json:"next_cursor,omitempty"`
}

func listArtifacts(s *artifact.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		limit, err := pageSize(q)
		if err != nil {
			fail(w, r, err)
			return
		}
		entries, next, err := s.List(r.Context(), exchangeOf(r).caller, artifact.Filter{Pack: q.Get("pack"), Limit: limit, Cursor: q.Get("cursor")})
		if err != nil {
			fail(w, r, err)
			return
		}
		page := artifactPage{[]wire.Artifact{}, next}
		for _, e := range entries {
			page.Artifacts = append(page.Artifacts, s.Public(e))
		}
		writeJSON(w, r, http.StatusOK, page)
	}
}

func deleteArtifact(s *artifact.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.Delete(r.Context(), exchangeOf(r).caller, r.PathValue("key")); err != nil {
			fail(w, r, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// uploadArtifact streams the part called file into the store.
func uploadArtifact(s *artifact.Store) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		file, contentType, err := fileOf(w, r)
		if err != nil {
			fail(w, r, err)
			return
		}
		entry, err := s.Put(r.Context(), artifact.Put{
			Pack: uploadPack, Owner: exchangeOf(r).caller.Subject, Name: file.name, ContentType: contentType, Body: file, Max: artifact.MaxSize,
		})
		if file.err != nil {
			err = file.err // whatever the store made of it: the sender is to blame, not the disk
		}
		if err != nil {
			fail(w, r, err)
			return
		}
		writeJSON(w, r, http.StatusCreated, s.Public(entry))
	}
}

// file is an upload's bytes as they arrive. err is what went wrong on the sender's side.
type file struct {
	io.Reader
	name string
	r    *http.Request
	size int64
	err  error
}

func (f *file) Read(b []byte) (int, error) {
	n, err := f.Reader.Read(b)
	f.size += int64(n)
	switch {
	case f.size > artifact.MaxSize:
		f.err = tooLarge(artifact.MaxSize)
	case err != nil && err != io.EOF:
		f.err = brokenUpload(f.r, err)
	default:
		return n, err
	}
	return n, f.err
}

// fileOf finds the file in the request.
func fileOf(w http.ResponseWriter, r *http.Request) (f *file, contentType string, err error) {
	if err := wantType(r, uploadType); err != nil {
		return nil, "", err
	}
	if r.ContentLength > maxUpload {
		return nil, "", tooLarge(artifact.MaxSize)
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxUpload)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, "", wire.Invalid("multipart/form-data without a boundary: let your HTTP client set the Content-Type")
	}
	for range maxUploadPart {
		part, err := parts.NextPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", brokenUpload(r, err)
		}
		if part.FormName() != uploadField {
			continue
		}
		contentType = part.Header.Get("Content-Type")
		if contentType == "application/octet-stream" {
			contentType = "" // what clients say when they don't know: the store may know better
		}
		return &file{Reader: part, name: part.FileName(), r: r}, contentType, nil
	}
	return nil, "", wire.Invalid("the form has no field %q: send the file as curl -F %s=@path does", uploadField, uploadField)
}

func brokenUpload(r *http.Request, err error) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return tooLarge(artifact.MaxSize)
	case errors.Is(err, errStalled):
		return unreadable(r.Context(), err)
	}
	return wire.Invalid("the form ended early or is badly framed: each part must end at the boundary, as RFC 7578 says").Because(err)
}
