package rewrite

import (
	"bytes"
	"fmt"
)

const header = "\x00asm\x01\x00\x00\x00"

// The sections' ids.
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionCount
)

// sectionOrder is the order of the sections in a file, which is that of the ids but for the data count.
var sectionOrder = [...]byte{sectionType, sectionImport, sectionFunction, sectionTable, sectionMemory, sectionGlobal,
	sectionExport, sectionStart, sectionElement, sectionDataCount, sectionCode, sectionData}

// section is the contents of one section; body is nil if the module has no such section.
type section struct {
	body []byte
	at   int // where body begins in the module
}

// module is a module taken apart as far as indices need it.
type module struct {
	Module
	sections [sectionCount]section

	types           int
	importedFuncs   int
	importedGlobals int
	funcs           int // with the imported ones, as all below
	tables          int
	globals         int
}

func (m *module) has(id byte) bool { return m.sections[id].body != nil }

func (m *module) reader(id byte) reader {
	return reader{b: m.sections[id].body, base: m.sections[id].at}
}

// parse splits a module and reads everything but function bodies, segments and initial values.
func parse(bin []byte) (*module, error) {
	m := &module{}
	if err := m.split(bin); err != nil {
		return nil, err
	}
	steps := []struct {
		id   byte
		read func(r *reader)
	}{
		{sectionType, m.readTypes}, {sectionImport, m.readImports}, {sectionFunction, m.readFunctions},
		{sectionTable, m.readTables}, {sectionMemory, m.readMemories}, {sectionGlobal, m.readGlobals},
		{sectionExport, m.readExports},
	}
	for _, s := range steps {
		if !m.has(s.id) {
			continue
		}
		r := m.reader(s.id)
		s.read(&r)
		r.finish()
		if r.err != nil {
			return nil, r.err
		}
	}
	m.HasStart = m.has(sectionStart)
	return m, nil
}

// split finds the sections, each at most once and in their order. Custom sections are skipped.
func (m *module) split(bin []byte) error {
	if !bytes.HasPrefix(bin, []byte(header)) {
		if bytes.HasPrefix(bin, []byte(header[:4])) {
			return fmt.Errorf("%w: it is a component or of another version; build a core module of version 1", ErrNotWasm)
		}
		return fmt.Errorf("%w: a .wasm file begins with the bytes 00 61 73 6d 01 00 00 00", ErrNotWasm)
	}
	r := &reader{b: bin, at: len(header)}
	last := -1
	for r.err == nil && r.left() > 0 {
		id := r.byte()
		body := r.part(r.u32())
		switch {
		case r.err != nil || id == sectionCustom:
		case id == 13:
			r.fail(ErrUnsupported, "exception handling; compile without it")
		case id >= sectionCount:
			r.malformed("there is no section %d", id)
		default:
			rank := bytes.IndexByte(sectionOrder[:], id)
			if rank <= last {
				r.malformed("section %d is out of order or there twice", id)
			}
			last = rank
			m.sections[id] = section{body: body.b, at: body.base}
		}
	}
	return r.err
}

func (m *module) readTypes(r *reader) {
	m.types = r.count("types", maxTypes)
	for range m.types {
		if form := r.byte(); form != 0x60 && r.err == nil {
			r.fail(ErrUnsupported, "a type that is not a function's (form %#x, the garbage collection proposal)", form)
		}
		for range r.count("parameters of one function", maxParams) {
			readValueType(r)
		}
		for range r.count("results of one function", maxResults) {
			readValueType(r)
		}
		if r.err != nil {
			return
		}
	}
}

func (m *module) readImports(r *reader) {
	n := r.count("imports", maxImports)
	m.Imports = make([]Import, 0, n)
	for range n {
		i := Import{Module: r.name(), Name: r.name(), Kind: Kind(r.byte())}
		switch i.Kind {
		case Func:
			r.index("type", m.types)
			m.funcs++
		case Table:
			readReferenceType(r)
			readLimits(r, 1<<32-1)
			m.tables++
		case Memory:
			m.addMemory(r, true)
		case Global:
			readValueType(r)
			readMutability(r)
			m.globals++
		default:
			r.fail(ErrUnsupported, "an import of kind %d", i.Kind)
		}
		if r.err != nil {
			return
		}
		m.Imports = append(m.Imports, i)
	}
	m.importedFuncs, m.importedGlobals = m.funcs, m.globals
}

func (m *module) readFunctions(r *reader) {
	n := r.count("functions", maxFunctions)
	for range n {
		r.index("type", m.types)
	}
	m.funcs += n
}

func (m *module) readTables(r *reader) {
	n := r.count("tables", maxTables)
	m.tables += n
	for range n {
		readReferenceType(r)
		readLimits(r, 1<<32-1)
	}
}

func (m *module) readMemories(r *reader) {
	for range r.count("memories", maxTables) {
		m.addMemory(r, false)
	}
}

func (m *module) addMemory(r *reader, imported bool) {
	l := readLimits(r, maxMemorySize)
	if len(m.Memories) > 0 {
		r.fail(ErrUnsupported, "a second memory (the multi-memory proposal)")
	}
	m.Memories = append(m.Memories, Limits{Min: l.min, Max: l.max, Bounded: l.bounded, Imported: imported})
}

// readGlobals only counts; the initial values are read when they are rewritten.
func (m *module) readGlobals(r *reader) {
	m.globals += r.count("globals", maxGlobals)
	r.at = len(r.b)
}

func (m *module) readExports(r *reader) {
	n := r.count("exports", maxExports)
	m.Exports = make([]Export, 0, n)
	for range n {
		e := Export{Name: r.name(), Kind: Kind(r.byte())}
		switch e.Kind {
		case Func:
			r.index("function", m.funcs)
		case Table:
			r.index("table", m.tables)
		case Memory:
			r.index("memory", len(m.Memories))
		case Global:
			r.index("global", m.globals)
		default:
			r.fail(ErrUnsupported, "an export of kind %d", e.Kind)
		}
		if r.err != nil {
			return
		}
		m.Exports = append(m.Exports, e)
	}
}
