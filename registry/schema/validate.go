package schema

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// maxFindings is how many findings an error lists.
const maxFindings = 8

// Validate checks v, which comes from [Decode]. The error lists at most eight findings as "path: what is wrong", joined by
// "; ", in words that say what to send instead. A value is quoted only up to 64 characters.
func (s *Schema) Validate(v any) (err error) {
	if err := s.cost.check(v); err != nil {
		return err
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case tooLong:
			err = fmt.Errorf("a string of %d bytes is too long to be checked against a pattern: at most %d", p.length, MaxPatternString)
		default:
			panic(p)
		}
	}()
	err = s.sch.Validate(v)
	if err == nil {
		return nil
	}
	var e *jsonschema.ValidationError
	if !errors.As(err, &e) {
		return fmt.Errorf("checking the schema: %w", err)
	}
	return errors.New(describe(v, e))
}

// describe words what is wrong with v.
func describe(v any, e *jsonschema.ValidationError) string {
	w := &words{value: v}
	w.walk(e)
	lines, total := w.list(maxFindings)
	if n := total - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(lines, "; ")
}
