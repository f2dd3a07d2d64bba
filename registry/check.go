package registry

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The session modes.
const (
	SessionNone     = "none"
	SessionOptional = "optional"
	SessionRequired = "required"
	SessionCreates  = "creates"
)

const (
	maxName        = 64
	maxVersion     = 64
	maxDescription = 8192
	maxArgs        = 64
	maxArg         = 4096
	maxExamples    = 64
	maxList        = 256 // entries of a permission or of config
	maxWord        = 256 // characters of such an entry, of an export, an image
)

var (
	namePattern    = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}$`)
	versionPattern = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){0,2}$`)
	modulePattern  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}\.wasm$`)
	exportPattern  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	configPattern  = regexp.MustCompile(`^[A-Z0-9_]+$`)
	hashPattern    = regexp.MustCompile(`^[0-9a-fA-F]{64}$`)
	settingPattern = regexp.MustCompile(`^setting:[A-Z][A-Z0-9_]*$`)
	hostPattern    = regexp.MustCompile(`^(\*|(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(:([1-9][0-9]{0,4}))?$`)
)

// ValidName says whether a pack may have this name: two to four parts of a-z, 0-9 and _, at most 64 characters. It is to be
// asked before a name becomes part of a path.
func ValidName(name string) bool { return len(name) <= maxName && namePattern.MatchString(name) }

func (m *Manifest) check() error {
	switch {
	case !ValidName(m.Name):
		return fmt.Errorf("name: %s is not a pack name: two to four parts of a-z, 0-9 and _ joined by dots, such as text.upper, at most %d characters", shown(m.Name), maxName)
	case len(m.Version) > maxVersion || !versionPattern.MatchString(m.Version):
		return fmt.Errorf("version: %s is not a version such as v1, v1.2.0, 1.2.0 or 2026.05", shown(m.Version))
	case strings.TrimSpace(m.Description) == "":
		return fmt.Errorf("description: missing: say in a sentence what the pack does")
	case len(m.Description) > maxDescription:
		return fmt.Errorf("description: %d bytes are too long: at most %d", len(m.Description), maxDescription)
	case m.Trust != nil && m.Trust.SHA256 != "" && !hashPattern.MatchString(m.Trust.SHA256):
		return fmt.Errorf("trust.sha256: %s is not a SHA-256 of 64 hex digits", shown(m.Trust.SHA256))
	}
	for _, err := range []error{
		checkSeconds("timeout_s", m.TimeoutS), m.Handler.check(), m.Session.check(), m.Permissions.check(), checkExamples(m.Examples),
		checkList("config", m.Config, "a setting's name of A-Z, 0-9 and _", configPattern.MatchString),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkSeconds(field string, s float64) error {
	if s != 0 && (s < MinTimeout.Seconds() || s > MaxTimeout.Seconds()) {
		return fmt.Errorf("%s: %v is out of range: %v to %v seconds, or 0 for the default of %v", field, s, MinTimeout.Seconds(), MaxTimeout.Seconds(), DefaultTimeout/time.Second)
	}
	return nil
}

func checkMemory(field string, mb, most int) error {
	if mb < 0 || mb > most {
		return fmt.Errorf("%s: %d is out of range: 1 to %d MiB", field, mb, most)
	}
	return nil
}

func checkImage(field, image string) error {
	if len(image) > maxWord || strings.HasPrefix(image, "-") || strings.ContainsFunc(image, unprintable) {
		return fmt.Errorf("%s: %s is not the name of an image, such as registry/name@sha256:…", field, shown(image))
	}
	return nil
}

func unprintable(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }

func (h *Handler) check() error {
	if err := checkSeconds("handler.timeout_s", h.TimeoutS); err != nil {
		return err
	}
	switch h.Type {
	case Wasm:
		return h.checkWasm()
	case Command:
		return h.checkCommand()
	case "":
		return fmt.Errorf("handler.type: missing: %s or %s", Wasm, Command)
	}
	return fmt.Errorf("handler.type: %s is not one of %s, %s", shown(h.Type), Wasm, Command)
}

func (h *Handler) checkWasm() error {
	switch {
	case len(h.Command) > 0 || h.Sidecar != nil:
		return fmt.Errorf("handler: command and sidecar belong to type %s, not to %s", Command, Wasm)
	case !modulePattern.MatchString(h.Module):
		return fmt.Errorf("handler.module: %s is not the name of a module in the pack's folder, such as pack.wasm", shown(h.Module))
	case len(h.Export) > maxWord || !exportPattern.MatchString(h.Export):
		return fmt.Errorf("handler.export: %s is not the name of an export: letters, digits, dots, _ and -", shown(h.Export))
	}
	return checkMemory("handler.memory_mb", h.MemoryMB, MaxMemoryMB)
}

func (h *Handler) checkCommand() error {
	switch {
	case h.Module != "" || h.Export != "":
		return fmt.Errorf("handler: module and export belong to type %s, not to %s", Wasm, Command)
	case len(h.Command) == 0 || len(h.Command) > maxArgs:
		return fmt.Errorf("handler.command: %d arguments: 1 to %d, such as [\"./upper\"] or [python3, handler.py]", len(h.Command), maxArgs)
	}
	for i, arg := range h.Command {
		if arg == "" || len(arg) > maxArg || strings.ContainsRune(arg, 0) {
			return fmt.Errorf("handler.command[%d]: an argument has 1 to %d bytes and no NUL", i, maxArg)
		}
	}
	if !validProgram(h.Command[0]) {
		return fmt.Errorf("handler.command[0]: %s is neither a file of the pack (./upper) nor a program of the image (python3, /usr/bin/python3)", shown(h.Command[0]))
	}
	if h.Sidecar != nil && h.Sidecar.Image == "" {
		return fmt.Errorf("handler.sidecar.image: missing")
	}
	if h.Sidecar != nil {
		return checkImage("handler.sidecar.image", h.Sidecar.Image)
	}
	return nil
}

// File is the file of the pack that a command handler starts, if it is one: upper for ./upper.
func (h *Handler) File() (name string, ok bool) {
	if len(h.Command) == 0 {
		return "", false
	}
	return strings.CutPrefix(h.Command[0], "./")
}

// validProgram says whether a program is a file that stays in the pack's folder, on every system, or one of the image: a bare
// name or an absolute path.
func validProgram(program string) bool {
	if file, ours := strings.CutPrefix(program, "./"); ours {
		return file != "." && fs.ValidPath(file) && !strings.ContainsAny(file, `\:`)
	}
	if strings.HasPrefix(program, "/") {
		return path.Clean(program) == program && program != "/"
	}
	return !strings.HasPrefix(program, ".") && !strings.Contains(program, "/")
}

func (s *Session) check() error {
	modes := []string{SessionNone, SessionOptional, SessionRequired, SessionCreates}
	if !slices.Contains(modes, s.Mode) {
		return fmt.Errorf("session.mode: %s is not one of %s", shown(s.Mode), strings.Join(modes, ", "))
	}
	if err := checkMemory("session.memory_mb", s.MemoryMB, MaxSessionMemoryMB); err != nil {
		return err
	}
	return checkImage("session.image", s.Image)
}

func (p *Permissions) check() error {
	if p == nil {
		return nil
	}
	word := func(s string) bool { return s != "" && len(s) <= maxWord && !strings.ContainsFunc(s, unprintable) }
	pack := func(s string) bool {
		family, all := strings.CutSuffix(s, ".*")
		return s == "*" || ValidName(s) || all && ValidName(family+".x")
	}
	for _, err := range []error{
		checkList("permissions.net", p.Net, "a host (api.acme.test), the hosts below one (*.acme.test) or any (*), in lower case, with an optional :port, or setting:NAME for the host of a setting that is a URL", validNet),
		checkList("permissions.vault", p.Vault, "a credential's name, or input:FIELD for those that the caller names in that field, without spaces", word),
		checkList("permissions.session", p.Session, "a kind of session, without spaces", word),
		checkList("permissions.packs", p.Packs, "a pack's name, a family such as forge.* or all (*)", pack),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func validNet(s string) bool { return validHost(s) || settingPattern.MatchString(s) }

// validHost says whether a pattern is a host, *.host or *, with or without a port.
func validHost(s string) bool {
	m := hostPattern.FindStringSubmatch(s)
	return m != nil && len(s) <= maxWord && (len(m[len(m)-1]) < 5 || m[len(m)-1] <= "65535")
}

func checkList(field string, list []string, what string, ok func(string) bool) error {
	if len(list) > maxList {
		return fmt.Errorf("%s: %d entries are too many: at most %d", field, len(list), maxList)
	}
	for i, s := range list {
		if len(s) > maxWord || !ok(s) {
			return fmt.Errorf("%s[%d]: %s is not %s", field, i, shown(s), what)
		}
	}
	return nil
}

func checkExamples(examples []Example) error {
	if len(examples) > maxExamples {
		return fmt.Errorf("examples: %d are too many: at most %d", len(examples), maxExamples)
	}
	for i, e := range examples {
		if e.Input[0] != '{' {
			return fmt.Errorf("examples[%d].input: expected a mapping", i)
		}
	}
	return nil
}
