package wasm

import (
	"context"
	"log/slog"

	"github.com/tetratelabs/wazero/api"
)

// envFunction is one function of Extism's guest ABI. Blocks are named by 64-bit offsets into the instance's arena.
type envFunction struct {
	name            string
	params, results []api.ValueType
	do              func(ctx context.Context, in *instance, stack []uint64)
}

var (
	i64  = []api.ValueType{api.ValueTypeI64}
	i64s = []api.ValueType{api.ValueTypeI64, api.ValueTypeI64}
	i32  = []api.ValueType{api.ValueTypeI32}
	at8  = []api.ValueType{api.ValueTypeI64, api.ValueTypeI32}
)

// env is the namespace extism:host/env, whole. Extism's own HTTP and variables are off and say what to use instead.
var env = []envFunction{
	{"input_length", nil, i64, func(_ context.Context, in *instance, s []uint64) { s[0] = uint64(len(in.input)) }},
	{"input_offset", nil, i64, inputOffset},
	{"input_load_u8", i64, i32, inputLoad8},
	{"input_load_u64", i64, i64, inputLoad64},
	{"output_set", i64s, nil, outputSet},
	{"error_set", i64, nil, errorSet},
	{"alloc", i64, i64, func(_ context.Context, in *instance, s []uint64) { s[0] = in.blocks.alloc(s[0]) }},
	{"free", i64, nil, func(_ context.Context, in *instance, s []uint64) { in.blocks.free(s[0]) }},
	{"length", i64, i64, func(_ context.Context, in *instance, s []uint64) { s[0] = in.blocks.length(s[0]) }},
	{"length_unsafe", i64, i64, func(_ context.Context, in *instance, s []uint64) { s[0] = in.blocks.length(s[0]) }},
	{"load_u8", i64, i32, load8},
	{"load_u64", i64, i64, load64},
	{"store_u8", at8, nil, store8},
	{"store_u64", i64s, nil, store64},
	{"config_get", i64, i64, configGet},
	{"var_get", i64, i64, refuse("Extism's variables are off: a call leaves nothing behind; use memory_put")},
	{"var_set", i64s, nil, refuse("Extism's variables are off: a call leaves nothing behind; use memory_put")},
	{"http_request", i64s, i64, refuse("Extism's HTTP is off: use the host function http_send")},
	{"http_status_code", nil, i32, refuse("Extism's HTTP is off: use the host function http_send")},
	{"http_headers", nil, i64, refuse("Extism's HTTP is off: use the host function http_send")},
	{"get_log_level", nil, i32, func(_ context.Context, _ *instance, s []uint64) { s[0] = 0 }}, // trace: the service's own level decides
	{"log_trace", i64, nil, logAt(slog.LevelDebug)},
	{"log_debug", i64, nil, logAt(slog.LevelDebug)},
	{"log_info", i64, nil, logAt(slog.LevelInfo)},
	{"log_warn", i64, nil, logAt(slog.LevelWarn)},
	{"log_error", i64, nil, logAt(slog.LevelError)},
}

const outside = refusal("it reached outside of the host's memory")

// inputOffset is for the few PDKs that read the input as a block; it is copied there at the first ask.
func inputOffset(_ context.Context, in *instance, s []uint64) {
	if in.inputBlock == 0 {
		in.inputBlock = in.blocks.write(in.input)
	}
	s[0] = in.inputBlock
}

func inputLoad8(_ context.Context, in *instance, s []uint64) {
	if s[0] >= uint64(len(in.input)) {
		panic(outside)
	}
	s[0] = uint64(in.input[s[0]])
}

func inputLoad64(_ context.Context, in *instance, s []uint64) {
	whole := arena{bytes: in.input}
	v, ok := whole.load64(s[0])
	if !ok {
		panic(outside)
	}
	s[0] = v
}

func outputSet(_ context.Context, in *instance, s []uint64) {
	b, ok := in.blocks.slice(s[0], s[1])
	if !ok {
		panic(outside)
	}
	in.output = append(in.output[:0], b...) // the last one counts, as in Extism
}

func errorSet(_ context.Context, in *instance, s []uint64) {
	if s[0] == 0 { // Extism: no error after all
		in.failed, in.failure = false, nil
		return
	}
	b, ok := in.blocks.read(s[0])
	if !ok {
		panic(outside)
	}
	in.failed, in.failure = true, append([]byte(nil), b[:min(len(b), maxErrorBlock)]...)
}

func load8(_ context.Context, in *instance, s []uint64) {
	b, ok := in.blocks.slice(s[0], 1)
	if !ok {
		panic(outside)
	}
	s[0] = uint64(b[0])
}

func load64(_ context.Context, in *instance, s []uint64) {
	v, ok := in.blocks.load64(s[0])
	if !ok {
		panic(outside)
	}
	s[0] = v
}

func store8(_ context.Context, in *instance, s []uint64) {
	b, ok := in.blocks.slice(s[0], 1)
	if !ok {
		panic(outside)
	}
	b[0] = byte(s[1])
}

func store64(_ context.Context, in *instance, s []uint64) {
	if !in.blocks.store64(s[0], s[1]) {
		panic(outside)
	}
}

// configGet answers a setting that the manifest lists, or no block.
func configGet(_ context.Context, in *instance, s []uint64) {
	name, ok := in.blocks.read(s[0])
	if !ok {
		panic(outside)
	}
	s[0] = 0
	for _, allowed := range in.call.Pack.Config {
		if allowed == string(name) {
			if v, ok := in.runner.setting(allowed); ok {
				s[0] = in.blocks.write([]byte(v))
			}
			return
		}
	}
}

func refuse(why refusal) func(context.Context, *instance, []uint64) {
	return func(context.Context, *instance, []uint64) { panic(why) }
}

func logAt(level slog.Level) func(context.Context, *instance, []uint64) {
	return func(ctx context.Context, in *instance, s []uint64) {
		if text, ok := in.blocks.read(s[0]); ok {
			in.logLine(ctx, level, text)
			in.blocks.free(s[0]) // Extism frees what was logged
		}
	}
}
