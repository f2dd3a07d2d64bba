package config

import (
	"strings"
	"testing"
)

func TestArtifactsBucket(t *testing.T) {
	open := func(u string) (Config, error) {
		return FromEnv(from("GANTRY_ARTIFACTS_URL", u, "GANTRY_ARTIFACTS_ACCESS_KEY", "k", "GANTRY_ARTIFACTS_SECRET_KEY", "s"))
	}
	for u, want := range map[string]Bucket{
		"s3://pictures": {Name: "pictures", Endpoint: defaultEndpoint, Region: defaultRegion},
		"s3://pictures/a/b/?endpoint=http://127.0.0.1:9000/&region=eu-1&path_style=true": {
			Name: "pictures", Prefix: "a/b", Endpoint: "http://127.0.0.1:9000", Region: "eu-1", PathStyle: "true"},
	} {
		want.AccessKey, want.SecretKey = "k", "s"
		c, err := open(u)
		if got, ok := c.ArtifactsBucket(); err != nil || !ok || got != want {
			t.Errorf("%s: %+v, %v", u, got, err)
		}
	}
	for _, u := range []string{
		"s3://", "s3:///x", "http://pictures", "pictures", "s3://k:hunter2@pictures", "s3://Pictures", "s3://pictures/../x", "s3://pictures/a//b",
		"s3://pictures?endpoint=nas:9000", "s3://pictures?endpoint=http://k:hunter2@nas", "s3://pictures?endpoint=", "s3://pictures?path_style=yes",
		"s3://pictures?secret=hunter2", "s3://pictures?region=a&region=b", "s3://pictures#x", "s3://pictures?region=a%0ab", "s3://pictures/a%0ab",
	} {
		_, err := open(u)
		if err == nil || !strings.HasPrefix(err.Error(), "GANTRY_ARTIFACTS_URL: ") || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", u, err)
		}
	}
	if _, err := FromEnv(from("GANTRY_ARTIFACTS_URL", "s3://pictures", "GANTRY_ARTIFACTS_ACCESS_KEY", "k")); err == nil || !strings.Contains(err.Error(), "SECRET_KEY") {
		t.Errorf("without a secret key: %v", err)
	}
	c, _ := FromEnv(from())
	if _, ok := c.ArtifactsBucket(); ok {
		t.Error("a bucket that nobody asked for")
	}
}
