// Command gantry is the service and its command line. main parses, a subcommand does the work, one file each; what they
// answer goes to stdout, what a person wants to know meanwhile to stderr. It exits 0 when all went well, 1 when something
// failed and 2 when the command line or a variable is wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/gantry-packs/gantry/host/config"
)

// The exit codes.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

const description = `A control plane that AI agents call: packs take a JSON object and give one back.

Every variable is also a flag of "gantry serve"; "gantry config" prints what is in force.`

type commands struct {
	Serve   serveCommand   `cmd:"" help:"Run the service."`
	Call    callCommand    `cmd:"" help:"Call a pack of a running service."`
	Token   tokenCommands  `cmd:"" help:"Mint, list and revoke tokens."`
	Vault   vaultCommands  `cmd:"" help:"Keep credentials, and look after the vault."`
	Pack    packCommands   `cmd:"" help:"Make, build, check and test packs."`
	Config  configCommand  `cmd:"" help:"Print every variable, its value in force and where it comes from."`
	Doctor  doctorCommand  `cmd:"" help:"Check that this machine can run Gantry, and say what to do where not."`
	Version versionCommand `cmd:"" help:"Print the version."`
}

// process is what a subcommand may use of the process that it runs in.
type process struct {
	in  io.Reader
	out io.Writer                   // answers, for programs
	err *terminal                   // logs, progress and errors, for people
	env func(string) (string, bool) // the environment
}

// usageError is the caller's mistake on the command line or in a variable: exit code 2.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	env := config.Environ()
	code := run(ctx, os.Args[1:], &process{in: os.Stdin, out: os.Stdout, err: openTerminal(os.Stderr, env), env: env})
	stop()
	os.Exit(code)
}

// run is the whole program with its surroundings as values, so that a test can run it.
func run(ctx context.Context, args []string, p *process) int {
	var c commands
	helped := false
	parser, err := kong.New(&c,
		kong.Name(config.Service), kong.Description(description), kong.Writers(p.out, p.err),
		kong.Exit(func(int) { helped = true }), kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.ValueFormatter(variableHelp), kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(p))
	if err != nil {
		return fail(p, fmt.Errorf("reading the command line: %w", err))
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	k, err := parser.Parse(args)
	if helped {
		return exitOK
	}
	if err != nil {
		return fail(p, usageError{fmt.Errorf("%w (see gantry --help)", err)})
	}
	if err := k.Run(); err != nil {
		return fail(p, err)
	}
	return exitOK
}

// fail prints err in one line and gives the exit code.
func fail(p *process, err error) int {
	var answer *serviceError
	var usage usageError
	switch {
	case errors.Is(err, errReported):
	case errors.As(err, &answer):
		fmt.Fprintln(p.err, printable(err.Error()))
	default:
		fmt.Fprintln(p.err, config.Service+": "+printable(err.Error()))
	}
	if errors.As(err, &usage) {
		return exitUsage
	}
	return exitFailed
}
