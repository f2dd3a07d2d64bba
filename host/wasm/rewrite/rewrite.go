// Package rewrite rewrites WebAssembly binaries so that strangers' code can be run: fuel metering, data segments
// coalesced, tables bounded.
//
// It reads a module exactly as strictly as WebAssembly 2.0 says and refuses everything else, because a decoder that
// disagrees with the engine about where an instruction ends could be shown a loop as if it were a constant, and the
// loop would run unmetered. The engine validates types afterwards; this package only finds instructions and indices.
package rewrite

import (
	"errors"
	"fmt"
)

// Every error of this package wraps one of these; the rest of its text is a sentence for the pack's author.
var (
	ErrNotWasm     = errors.New("this is not a WebAssembly core module")
	ErrMalformed   = errors.New("the WebAssembly module is damaged")
	ErrUnsupported = errors.New("the WebAssembly module uses what a pack may not use")
	ErrTooLarge    = errors.New("the WebAssembly module is too large")
)

// Options says what Prepare adds and allows.
type Options struct {
	// TickModule and TickName name the host function () -> i32 that is imported. The module calls it when its fuel
	// runs out, and before its first instruction; it answers the next budget, 1 to MaxBudget units, or traps.
	TickModule, TickName string

	// MaxTable is the most entries that any table of the module may have. Declared maxima are lowered to it; a table
	// that starts larger is refused.
	MaxTable uint32

	// MaxGap is how many zero bytes may be written between two data segments to make them one.
	MaxGap int
}

// MaxBudget is the largest fuel budget, in units. Above it, charging a bulk operation could overflow the counter.
const MaxBudget = 1 << 20

// Prepare returns the module with its functions metered, its data segments merged and its tables bounded. Custom
// sections (names, debug information) are dropped: the name section's indices would be wrong, and no engine needs them.
// bin is not changed. The tick function becomes the last import; one function and one mutable global, which
// the guest cannot name, are appended.
func Prepare(bin []byte, o Options) ([]byte, error) {
	m, err := parse(bin)
	if err != nil {
		return nil, err
	}
	for _, i := range m.Imports {
		if i.Module == o.TickModule && i.Name == o.TickName {
			return nil, fmt.Errorf("%w: it imports %s.%s, which belongs to the host; remove that import", ErrUnsupported, i.Module, i.Name)
		}
	}
	w := rewriter{module: m, options: o}
	if err := w.run(); err != nil {
		return nil, err
	}
	return w.join(), nil
}

// rewriter holds the new bodies of the sections while they are made.
type rewriter struct {
	*module
	options Options
	bodies  [sectionCount][]byte // nil: the section is left out
	entries int                  // entries of element segments so far
}

func (w *rewriter) run() error {
	steps := []struct {
		id    byte
		write func(r *reader) []byte
	}{
		{sectionTable, w.tableSection},
		{sectionGlobal, w.globalSection},
		{sectionExport, w.exportSection},
		{sectionStart, w.startSection},
		{sectionElement, w.elementSection},
	}
	for i, s := range w.sections {
		w.bodies[i] = s.body
	}
	w.bodies[sectionType] = w.typeSection()
	w.bodies[sectionImport] = w.importSection()
	w.bodies[sectionFunction] = w.functionSection()
	for _, s := range steps {
		if !w.has(s.id) && s.id != sectionGlobal {
			continue
		}
		r := w.reader(s.id)
		body := s.write(&r)
		r.finish()
		if r.err != nil {
			return r.err
		}
		w.bodies[s.id] = body
	}
	return w.codeAndData()
}

// codeAndData comes last, since whether data segments may be merged depends on the code: memory.init and data.drop
// name them by index.
func (w *rewriter) codeAndData() error {
	c := newMeter(w.module)
	code := w.reader(sectionCode)
	w.bodies[sectionCode] = c.section(&code)
	if code.err != nil {
		return code.err
	}
	r := w.reader(sectionData)
	segments, fixed := w.readData(&r)
	if r.err != nil {
		return r.err
	}
	if w.has(sectionData) && !fixed && !c.namesData {
		w.bodies[sectionData] = mergeData(segments, max(w.options.MaxGap, 0))
		w.bodies[sectionDataCount] = nil // optional without memory.init, and its number is wrong now
	}
	return nil
}

// join writes the sections in their order.
func (w *rewriter) join() []byte {
	size := len(header)
	for _, b := range w.bodies {
		size += len(b) + 6
	}
	out := append(make([]byte, 0, size), header...)
	for _, id := range sectionOrder {
		if b := w.bodies[id]; b != nil {
			out = appendU32(append(out, id), uint32(len(b)))
			out = append(out, b...)
		}
	}
	return out
}
