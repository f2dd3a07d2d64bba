package rewrite

import "fmt"

// Module is what a module wants and offers.
type Module struct {
	Imports  []Import
	Exports  []Export
	Memories []Limits // one at most
	HasStart bool     // it runs code while it is instantiated
}

// Import is something that the module needs.
type Import struct {
	Module, Name string
	Kind         Kind
}

// Export is something that the module offers.
type Export struct {
	Name string
	Kind Kind
}

// Limits are a memory's sizes in pages of 64 KiB. Max means something only if Bounded.
type Limits struct {
	Min, Max          uint32
	Bounded, Imported bool
}

// Kind says what is imported or exported.
type Kind byte

// The kinds, numbered as in the binary format.
const (
	Func Kind = iota
	Table
	Memory
	Global
)

func (k Kind) String() string {
	switch k {
	case Func:
		return "function"
	case Table:
		return "table"
	case Memory:
		return "memory"
	case Global:
		return "global"
	}
	return fmt.Sprintf("kind %d", byte(k))
}

// Inspect reads a module's imports, exports and memory without looking at its code. Its errors are those of Prepare.
func Inspect(bin []byte) (Module, error) {
	m, err := parse(bin)
	if err != nil {
		return Module{}, err
	}
	return m.Module, nil
}
