package schema

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The limits of regular expressions. Go's matcher is linear in the text, but also in the size of the compiled expression.
const (
	maxPatternSize   = 1000     // instructions of one expression
	maxPatternsSize  = 40_000   // instructions of all expressions of a schema; each is compiled twice
	MaxPatternString = 64 << 10 // bytes of a string that is checked against an expression
)

// pattern is a compiled regular expression that knows its size.
type pattern struct {
	*regexp.Regexp
	size int
}

// tooLong is what MatchString panics with; Validate turns it into an error. Answering false would be wrong below a "not".
type tooLong struct {
	length int
}

// MatchString says whether s matches anywhere.
func (p *pattern) MatchString(s string) bool {
	if len(s) > MaxPatternString {
		panic(tooLong{len(s)})
	}
	return p.Regexp.MatchString(s)
}

// patterns compiles the expressions of one schema.
type patterns struct {
	size int
}

func (p *patterns) compile(text string) (jsonschema.Regexp, error) {
	if len(text) > MaxPattern {
		return nil, fmt.Errorf("a regular expression of %d characters: at most %d", len(text), MaxPattern)
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("regular expression: %w", err)
	}
	size := len(prog.Inst)
	if p.size += size; size > maxPatternSize || p.size > maxPatternsSize {
		return nil, fmt.Errorf("the regular expression %s is too large: repeat less", quote(text))
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	return &pattern{re, size}, nil
}

// sizeOf is the size of an expression that patterns.compile has made.
func sizeOf(re jsonschema.Regexp) int {
	if p, ok := re.(*pattern); ok {
		return p.size
	}
	return 0
}
