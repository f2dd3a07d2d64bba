package forge

// Release is a release to be made.
type Release struct {
	Tag, Name, Body string
	Draft           bool
}

// Released names a release that was made.
type Released struct {
	Made
	UploadURL string `json:"upload_url"` // where its files go; on GitHub a URI template
}

// CreateRelease makes a release; the forge makes the tag at the tip of the default branch if there is none.
func (c Client) CreateRelease(r Repo, release Release) (Released, error) {
	a, err := c.ask(request{path: r.path("/releases"), what: "release " + clean(release.Tag) + " of " + r.String(), body: map[string]any{
		"tag_name": release.Tag, "name": release.Name, "body": release.Body, "draft": release.Draft,
	}})
	if err != nil {
		return Released{}, err
	}
	o, err := a.object("id", "url", "html_url")
	if err != nil {
		return Released{}, err
	}
	made := Released{o.made(), o.at("upload_url")}
	if made.UploadURL == "" { // Gitea before 1.19 leaves it out
		made.UploadURL = made.URL + "/assets"
	}
	return made, nil
}
