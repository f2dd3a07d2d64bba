// Command core is the catalogue of the core packs: each import below is a pack that exports itself under its name.
// It compiles to core.wasm (see ../build.sh), a module of exports without a start of its own.
//
// Every start pays for its size, so a pack thinks twice before it imports. With Go 1.26 the first eight packs are 3.6 MB, and
// would grow by 0.2 MB with net/url, log/slog or mime, 0.5 with regexp, 2.0 with text/template and 7.2 with net/http.
package main

import (
	_ "github.com/gantry-packs/gantry/plugins/artifact.get"
	_ "github.com/gantry-packs/gantry/plugins/artifact.list"
	_ "github.com/gantry-packs/gantry/plugins/artifact.put"
	_ "github.com/gantry-packs/gantry/plugins/blog.publish"
	_ "github.com/gantry-packs/gantry/plugins/forge.create_issue"
	_ "github.com/gantry-packs/gantry/plugins/forge.create_pr"
	_ "github.com/gantry-packs/gantry/plugins/forge.create_release"
	_ "github.com/gantry-packs/gantry/plugins/forge.get_issue"
	_ "github.com/gantry-packs/gantry/plugins/forge.list_issues"
	_ "github.com/gantry-packs/gantry/plugins/forge.list_prs"
	_ "github.com/gantry-packs/gantry/plugins/forge.post_comment"
	_ "github.com/gantry-packs/gantry/plugins/forge.search"
	_ "github.com/gantry-packs/gantry/plugins/http.fetch"
	_ "github.com/gantry-packs/gantry/plugins/memory.forget"
	_ "github.com/gantry-packs/gantry/plugins/memory.store"
	_ "github.com/gantry-packs/gantry/plugins/plan.save"
	_ "github.com/gantry-packs/gantry/plugins/stock.search"
)

// main is never called: the host calls the exports.
func main() {}
