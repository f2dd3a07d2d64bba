package hosttest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// lookup finds the value at a path of names and array indexes joined by dots, such as artifacts.0.key. "." is the document
// itself. A name that itself holds a dot is written with a backslash: paths./a\.b.
func lookup(doc []byte, path string) (any, error) {
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	if path == "." {
		return v, nil
	}
	for step := range strings.SplitSeq(strings.ReplaceAll(path, `\.`, "\x00"), ".") {
		next, ok := child(v, strings.ReplaceAll(step, "\x00", "."))
		if !ok {
			return nil, fmt.Errorf("nothing at %s: no %q", path, step)
		}
		v = next
	}
	return v, nil
}

func child(v any, step string) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		c, ok := v[step]
		return c, ok
	case []any:
		if i, err := strconv.Atoi(step); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// size is the number of things in an array, object or string.
func size(v any) (int, bool) {
	switch v := v.(type) {
	case map[string]any:
		return len(v), true
	case []any:
		return len(v), true
	case string:
		return len(v), true
	}
	return 0, false
}

// same says whether got is what a script means by want: a string as it stands, anything as JSON.
func same(got any, want string) bool {
	if s, ok := got.(string); ok && s == want {
		return true
	}
	var w any
	return json.Unmarshal([]byte(want), &w) == nil && reflect.DeepEqual(got, w)
}

// like compares two documents; the string "*" in want stands for any value. The error names the first difference.
func like(got, want any, path string) error {
	if want == "*" {
		return nil
	}
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		return likeObject(g, w, path)
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if err := like(g[i], w[i], path+"."+strconv.Itoa(i)); err != nil {
				return err
			}
		}
		return nil
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return fmt.Errorf("at %s: got %s, want %s", strings.TrimPrefix(path, "."), compact(got), compact(want))
}

func likeObject(got, want map[string]any, path string) error {
	for name := range got {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("at %s: unexpected field %q", strings.TrimPrefix(path+".", "."), name)
		}
	}
	for name, w := range want {
		g, ok := got[name]
		if !ok {
			return fmt.Errorf("at %s: field %q is missing", strings.TrimPrefix(path+".", "."), name)
		}
		if err := like(g, w, path+"."+name); err != nil {
			return err
		}
	}
	return nil
}

// text is how a value goes into a script's variable: a string without its quotes, the rest as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return compact(v)
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
