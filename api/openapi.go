package api

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gantry-packs/gantry/registry"
)

// fixedSchemas are the shapes of the service's own requests and answers, by name.
//
//go:embed schemas.json
var fixedSchemas []byte

const schemaPath = "#/components/schemas/"

// object is a JSON object of the description.
type object = map[string]any

// description is the service as OpenAPI 3.1 sees it: the table of routes, and every pack of now as a path of its own.
type description struct {
	table   []route
	version string
	cached  atomic.Pointer[described]
}

// described is a finished description and the packs it was made of. A pack never changes, so equal packs mean an equal text.
type described struct {
	packs []*registry.Pack
	raw   []byte
}

func openAPI(set *registry.Set, table []route, version string) http.HandlerFunc {
	d := &description{table: table, version: version}
	return func(w http.ResponseWriter, r *http.Request) {
		raw, err := d.of(set.List())
		if err != nil {
			fail(w, r, err)
			return
		}
		writeRaw(w, http.StatusOK, raw)
	}
}

// of describes the service with these packs.
func (d *description) of(packs []*registry.Pack) ([]byte, error) {
	if last := d.cached.Load(); last != nil && slices.Equal(last.packs, packs) {
		return last.raw, nil
	}
	schemas := object{}
	if err := json.Unmarshal(fixedSchemas, &schemas); err != nil {
		return nil, fmt.Errorf("reading the schemas: %w", err)
	}
	paths := d.paths()
	for _, p := range packs {
		if err := addPack(paths, schemas, p); err != nil {
			return nil, fmt.Errorf("describing the pack %s: %w", p.Name, err)
		}
	}
	raw, err := json.Marshal(object{
		"openapi": "3.1.0",
		"info":    object{"title": "Gantry", "version": d.version, "description": "A control plane that AI agents call."},
		"paths":   paths,
		"components": object{
			"schemas": schemas,
			"responses": object{"Error": object{
				"description": "What went wrong, and what to do about it", "content": jsonContent("Error"),
			}},
			"securitySchemes": object{
				"bearer":    object{"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
				"signature": object{"type": "apiKey", "in": "query", "name": "sig", "description": "Of a signed URL, with its exp"},
			},
		},
	})
	if err != nil {
		return nil, err
	}
	d.cached.Store(&described{packs, raw})
	return raw, nil
}

// paths describes the table.
func (d *description) paths() object {
	paths := object{}
	for _, rt := range d.table {
		name := strings.ReplaceAll(rt.pattern, "...}", "}")
		if paths[name] == nil {
			paths[name] = object{}
		}
		paths[name].(object)[strings.ToLower(rt.method)] = operation(rt)
	}
	return paths
}

var placeholder = regexp.MustCompile(`\{([a-z]+)(\.\.\.)?\}`)

func operation(rt route) object {
	op := object{
		"summary": rt.doc.summary, "operationId": operationID(rt.method, rt.pattern), "security": security(rt.access),
		"responses": object{strconv.Itoa(rt.doc.status): success(rt), "default": object{"$ref": "#/components/responses/Error"}},
	}
	var parameters []object
	for _, m := range placeholder.FindAllStringSubmatch(rt.pattern, -1) {
		p := object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}}
		if m[2] != "" {
			p["description"] = "With its slashes as they are"
		}
		parameters = append(parameters, p)
	}
	for name := range strings.FieldsSeq(rt.doc.query) {
		parameters = append(parameters, object{"name": name, "in": "query", "schema": parameterSchema(name)})
	}
	if parameters != nil {
		op["parameters"] = parameters
	}
	switch rt.doc.in {
	case "":
	case "Upload":
		op["requestBody"] = object{"required": true, "content": object{uploadType: object{"schema": object{"$ref": schemaPath + "Upload"}}}}
	default:
		op["requestBody"] = object{"content": jsonContent(rt.doc.in)}
	}
	return op
}

func success(rt route) object {
	answer := object{"description": rt.doc.summary}
	if rt.doc.out != "" {
		answer["content"] = jsonContent(rt.doc.out)
		if rt.access.signed {
			answer["content"].(object)["*/*"] = object{} // the artifact's bytes
		}
	}
	return answer
}

func jsonContent(schema string) object {
	return object{jsonType: object{"schema": object{"$ref": schemaPath + schema}}}
}

// security names the scope where OpenAPI 3.1 has roles for it.
func security(a access) []object {
	if a.open {
		return []object{}
	}
	ways := []object{{"bearer": []string{a.scope}}}
	if a.signed {
		ways = append(ways, object{"signature": []string{}})
	}
	return ways
}

func parameterSchema(name string) object {
	switch name {
	case "limit":
		return object{"type": "integer", "minimum": 1, "maximum": maxPage, "default": defaultPage}
	case "from", "to":
		return object{"type": "string", "format": "date-time"}
	case "status":
		return object{"type": "string", "enum": []string{"ok", "error"}}
	}
	return object{"type": "string"}
}

// operationID is unique and a good name for a generated function: get_api_v1_packs_name.
func operationID(method, path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/.{}", r) })
	return strings.ToLower(method) + "_" + strings.Join(words, "_")
}

// addPack gives a pack its own path, which OpenAPI prefers to the one with {name}.
func addPack(paths, schemas object, p *registry.Pack) error {
	input, output := p.Name+".input", p.Name+".output"
	var err error
	if schemas[input], err = embedSchema(schemaOf(p.InputSchema), schemaPath+input); err != nil {
		return err
	}
	if schemas[output], err = embedSchema(schemaOf(p.OutputSchema), schemaPath+output); err != nil {
		return err
	}
	path, general := "/api/v1/packs/"+p.Name, paths["/api/v1/packs/{name}"].(object)
	show, call := maps.Clone(general["get"].(object)), maps.Clone(general["post"].(object))
	for method, op := range map[string]object{"GET": show, "POST": call} {
		delete(op, "parameters")
		op["operationId"] = operationID(method, path)
	}
	call["summary"], call["tags"] = p.Description, []string{"pack"}
	call["requestBody"] = object{"content": jsonContent(input)}
	envelope := object{
		"allOf":      []object{{"$ref": schemaPath + "Envelope"}},
		"properties": object{"output": object{"$ref": schemaPath + output}},
	}
	call["responses"] = maps.Clone(call["responses"].(object))
	call["responses"].(object)["200"] = object{
		"description": "The pack's output in its envelope", "content": object{jsonType: object{"schema": envelope}},
	}
	paths[path] = object{"get": show, "post": call}
	return nil
}
