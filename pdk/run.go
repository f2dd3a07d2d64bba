// Package pdk is what a pack imports. A pack is a function from a JSON object to a JSON object, and one line that exports it:
//
//	//go:wasmexport hello.world
//	func Export() int32 { return pdk.Run(run) }
//
//	func run(in Input) (Output, error) { … }
//
// Everything else here asks the host for something that a sandboxed module cannot have by itself: artifacts, memory,
// blobs, progress, a log line. What may be asked is what the pack's manifest names under permissions.
//
// The package has two halves with the same names. host_wasip1.go imports the real functions of the host. host_native.go is
// an in-memory host, so that go test, go vet and gopls treat a pack as the ordinary Go that it is.
package pdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/gantry-packs/gantry/pdk/wire"
)

// maxStackText is how much of a panic's stack goes to the host's log, in bytes.
const maxStackText = 4 << 10

// Run serves one call: it decodes the input into I, calls f and hands its answer to the host. It returns what the export
// must return, 0 for an output and 1 for an error.
//
// Unknown fields of the input are ignored here, for the pack's input_schema decides about them; a field of the wrong type is
// invalid_input and named. An error made by [Invalid], [Failed] or [Errorf] keeps its code, any other becomes handler_failed
// with its text. A panic becomes internal with its text; its stack goes to the host's log only.
func Run[I, O any](f func(I) (O, error)) int32 {
	out, err := Answer(f, readInput())
	if err == nil {
		err = setOutput(out)
	}
	if err != nil {
		// A wire.Error always marshals: its details were checked when they were made.
		text, _ := json.Marshal(packError(err))
		setError(text)
		return 1
	}
	return 0
}

// Answer does what [Run] does, for an input at hand: a test calls it to see the JSON that the host would see.
// A non-nil error is a *wire.Error.
func Answer[I, O any](f func(I) (O, error), input []byte) ([]byte, error) {
	return answer(input, func() (any, error) {
		var in I
		if err := decode(input, &in); err != nil {
			return nil, err
		}
		return f(in)
	})
}

func answer(input []byte, f func() (any, error)) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			stack := debug.Stack()
			Log(Warn, "panic: %v\n%s", r, stack[:min(len(stack), maxStackText)])
			out, err = nil, wire.Errorf(wire.Internal, "the pack panicked: %v", r)
		}
	}()
	v, err := f()
	if err != nil {
		return nil, packError(err)
	}
	return encode(v)
}

// packError gives err the code that a pack may raise.
func packError(err error) *wire.Error {
	var e *wire.Error
	switch {
	case !errors.As(err, &e):
		return wire.Failed("%s", err)
	case !e.Code.FromPack():
		// A refusal by the host (not found, forbidden …) that the pack passed on: its own code is not the pack's to raise.
		return &wire.Error{Code: wire.HandlerFailed, Message: e.Message, Details: e.Details}
	}
	return e
}

func decode(input []byte, v any) error {
	if len(input) == 0 {
		input = []byte("{}")
	}
	err := json.Unmarshal(input, v)
	if err == nil {
		return nil
	}
	var wrong *json.UnmarshalTypeError
	var known *wire.Error
	switch {
	case errors.As(err, &wrong):
		field := "the input"
		if wrong.Field != "" {
			field = "field " + wrong.Field
		}
		return wire.Invalid("%s must be %s, not %s", field, typeName(wrong.Type), wrong.Value)
	case errors.As(err, &known):
		return known
	}
	return wire.Invalid("the input cannot be read: %s", err)
}

// typeName says in the words of JSON what a field of Go type t takes.
func typeName(t reflect.Type) string {
	if t == reflect.TypeFor[Blob]() {
		return "base64 text"
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return typeName(t.Elem())
	}
	return t.String()
}

// encode leaves <, > and & as they are: the answer is read by programs, and a page of HTML would grow six times.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		var known *wire.Error
		if errors.As(err, &known) {
			return nil, packError(known)
		}
		return nil, wire.Errorf(wire.InvalidOutput, "the output cannot be written as JSON: %s", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// ask sends one request to a service of the host and decodes its answer. The service is given as the imported function
// itself, so that a module imports only what its pack uses: an import that the manifest doesn't name is not linked.
func ask[T any](service func(block uint64) uint64, request any) (T, error) {
	var answer T
	raw, err := json.Marshal(request)
	if err != nil {
		return answer, fmt.Errorf("writing the request to the host: %w", err)
	}
	block := storeBlock(raw)
	if block == 0 {
		return answer, errNoMemory
	}
	reply := takeBlock(service(block))
	freeBlock(block)
	var r wire.Reply
	if err := json.Unmarshal(reply, &r); err != nil {
		return answer, fmt.Errorf("reading the host's answer: %w", err)
	}
	if r.Error != nil {
		return answer, r.Error
	}
	if err := json.Unmarshal(r.OK, &answer); err != nil {
		return answer, fmt.Errorf("reading the host's answer: %w", err)
	}
	return answer, nil
}
