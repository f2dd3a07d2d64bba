package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"reflect"
	"slices"
)

const maxShown = 200 // bytes of a value in a difference

// differences says where got lacks what want asks for. Of an object only the wanted fields count, at every depth; an array
// must have as many items as wanted. Values are as schema.Decode gives them; numbers are equal by value, 1 and 1.0 too.
func differences(path string, want, got any) []string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		var found []string
		for _, name := range slices.Sorted(maps.Keys(w)) {
			value, ok := g[name]
			if !ok {
				found = append(found, fmt.Sprintf("%s.%s: expected %s, got nothing", path, name, show(w[name])))
				continue
			}
			found = append(found, differences(path+"."+name, w[name], value)...)
		}
		return found
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		var found []string
		for i := range w {
			found = append(found, differences(fmt.Sprintf("%s[%d]", path, i), w[i], g[i])...)
		}
		return found
	case json.Number:
		if g, ok := got.(json.Number); ok && sameNumber(w, g) {
			return nil
		}
	default:
		if reflect.DeepEqual(want, got) {
			return nil
		}
	}
	return []string{fmt.Sprintf("%s: expected %s, got %s", path, show(want), show(got))}
}

// sameNumber compares as 64-bit floats do in JSON, but tells large integers apart.
func sameNumber(a, b json.Number) bool {
	x, okX := new(big.Int).SetString(a.String(), 10)
	y, okY := new(big.Int).SetString(b.String(), 10)
	if okX && okY {
		return x.Cmp(y) == 0
	}
	f, errF := a.Float64()
	g, errG := b.Float64()
	return errF == nil && errG == nil && f == g
}

func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return clip(b)
}

func clip(b []byte) string {
	if len(b) > maxShown {
		return string(b[:maxShown]) + "…"
	}
	return string(b)
}
