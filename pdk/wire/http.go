package wire

// HTTPRequest is the request of http_send; the answer is an HTTPResponse. The pack's permissions.net must cover the URL's
// host, and that of every redirect.
//
// A header's value may name a credential as ${vault:NAME}; the host puts the secret there at the last moment. Credentials
// travel to the first URL's scheme, host and port alone: a redirect to another one goes on without them.
type HTTPRequest struct {
	Method  string            `json:"method,omitempty"` // GET (default), POST, PUT, PATCH, DELETE or HEAD
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`

	// At most one of Body, BodyBlob and Form is the body. A whole request takes at most 1 MiB of JSON: larger texts go as blob.
	Body     *string    `json:"body,omitempty"`
	BodyBlob *BlobRef   `json:"body_blob,omitempty"`
	Form     []FormPart `json:"form,omitempty"` // multipart/form-data

	Auth      []HTTPAuth `json:"auth,omitempty"`
	TimeoutMS int64      `json:"timeout_ms,omitempty"` // default 30,000; never past the call's deadline
	MaxBytes  int64      `json:"max_bytes,omitempty"`  // of the decompressed body; default 32 MiB, at most 64 MiB
	AsBlob    bool       `json:"as_blob,omitempty"`    // the body as a blob, however small
}

// FormPart is one part of a multipart form: exactly one of Text and Blob.
type FormPart struct {
	Name        string   `json:"name"`
	Filename    string   `json:"filename,omitempty"`
	ContentType string   `json:"content_type,omitempty"`
	Text        *string  `json:"text,omitempty"`
	Blob        *BlobRef `json:"blob,omitempty"`
}

// HTTPAuth says which credential goes into a request, and how: bearer, basic, header:NAME or query:NAME. Basic takes a login,
// or a key as user:password, or a key alone as the user name with no password.
type HTTPAuth struct {
	Credential string `json:"credential"`
	As         string `json:"as"`
}

// HTTPResponse is what came back. Any status is a response; only a request that got none is an error. Secrets that went
// out are masked wherever they come back, and so are the values of Set-Cookie.
type HTTPResponse struct {
	Status    int                 `json:"status"`
	Headers   map[string][]string `json:"headers"`
	Body      string              `json:"body,omitempty"` // valid UTF-8 of at most 4 MiB; anything else is a blob
	Blob      *BlobRef            `json:"blob,omitempty"`
	Size      int64               `json:"size"`      // bytes of the body as given here
	Truncated bool                `json:"truncated"` // the body was longer than MaxBytes
	URL       string              `json:"url"`       // after redirects
}
