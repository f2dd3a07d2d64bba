package store

import (
	"fmt"
	"log/slog"
	"strings"
)

// badgerLog writes badger's own messages to the service's log: what is wrong as a warning, the rest for debugging.
type badgerLog struct {
	log *slog.Logger
}

func (l badgerLog) Errorf(format string, args ...any)   { l.log.Warn(line(format, args)) }
func (l badgerLog) Warningf(format string, args ...any) { l.log.Warn(line(format, args)) }
func (l badgerLog) Infof(format string, args ...any)    { l.log.Debug(line(format, args)) }
func (l badgerLog) Debugf(format string, args ...any)   { l.log.Debug(line(format, args)) }

func line(format string, args []any) string {
	return "badger: " + strings.TrimSpace(fmt.Sprintf(format, args...))
}
