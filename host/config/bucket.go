package config

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
)

// Bucket is an S3 bucket, or the part of one, as GANTRY_ARTIFACTS_URL names it.
type Bucket struct {
	Name      string
	Prefix    string // of all object names, without slashes around it; may be empty
	Endpoint  string // http(s)://host[:port]
	Region    string
	PathStyle string // "true": the bucket's name is in the path, "false": in the host, "": by what the endpoint is
	AccessKey string
	SecretKey Secret
}

// What a URL that doesn't say gets.
const (
	defaultEndpoint = "https://s3.amazonaws.com"
	defaultRegion   = "us-east-1"
)

const maxPrefix = 512 // bytes; S3 allows 1024 for a whole object name

var (
	bucketName   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	bucketPrefix = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*$`)
	bucketRegion = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
)

// ArtifactsBucket is the bucket of artifacts, if there is to be one.
func (c Config) ArtifactsBucket() (Bucket, bool) {
	b, ok := parseBucket(c.ArtifactsURL)
	b.AccessKey, b.SecretKey = c.ArtifactsAccessKey, c.ArtifactsSecretKey
	return b, ok
}

// checkBucket misses the keys of a bucket.
func (c Config) checkBucket() error {
	if c.ArtifactsURL != "" && (c.ArtifactsAccessKey == "" || c.ArtifactsSecretKey == "") {
		return fmt.Errorf("GANTRY_ARTIFACTS_URL is set: want GANTRY_ARTIFACTS_ACCESS_KEY and GANTRY_ARTIFACTS_SECRET_KEY too")
	}
	return nil
}

// isBucket accepts what parseBucket understands. Empty is unset.
func isBucket(s string) bool {
	_, ok := parseBucket(s)
	return ok || s == ""
}

func parseBucket(s string) (Bucket, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "s3" || u.User != nil || u.Fragment != "" || !bucketName.MatchString(u.Host) {
		return Bucket{}, false
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return Bucket{}, false
	}
	b := Bucket{Name: u.Host, Prefix: strings.Trim(u.Path, "/"), Endpoint: defaultEndpoint, Region: defaultRegion}
	for name, values := range query {
		to, known := map[string]*string{"endpoint": &b.Endpoint, "region": &b.Region, "path_style": &b.PathStyle}[name]
		if !known || len(values) != 1 || values[0] == "" {
			return Bucket{}, false
		}
		*to = values[0]
	}
	b.Endpoint = strings.TrimSuffix(b.Endpoint, "/")
	return b, isURL(b.Endpoint) && bucketRegion.MatchString(b.Region) && len(b.Prefix) <= maxPrefix &&
		(b.Prefix == "" || bucketPrefix.MatchString(b.Prefix)) && (b.PathStyle == "" || b.PathStyle == "true" || b.PathStyle == "false")
}
