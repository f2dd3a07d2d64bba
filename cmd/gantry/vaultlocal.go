package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/host/vault"
)

// local is how a subcommand finds the vault in a data dir whose service is stopped.
type local struct {
	DataDir string `help:"The service's data dir ($$GANTRY_DATA_DIR)." placeholder:"DIR"`
}

// open lends f the vault. It makes no data dir: a mistyped one would look like an empty vault.
func (l local) open(ctx context.Context, p *process, f func(*vault.Vault) error) (err error) {
	cfg, err := settings(with(p.env, "GANTRY_DATA_DIR", l.DataDir))
	if err != nil {
		return err
	}
	dir := filepath.Join(cfg.DataDir, "store")
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("no service has ever run in %s: name its data dir with --data-dir", cfg.DataDir)}
	}
	log := newLog(p, cfg)
	kv, err := store.OpenBadger(dir, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, kv.Close()) }()
	v, err := vault.Open(ctx, vault.Config{Store: kv, Dir: cfg.DataDir, KEK: cfg.VaultKEK, Now: time.Now, Log: log})
	if err != nil {
		return err
	}
	defer v.Close()
	return f(v)
}

type vaultDoctorCommand struct {
	Local local `embed:""`
}

// Run prints one line a check and fails if one did.
func (c *vaultDoctorCommand) Run(ctx context.Context, p *process) error {
	return c.Local.open(ctx, p, func(v *vault.Vault) error {
		findings, err := v.Doctor(ctx)
		if err != nil {
			return err
		}
		failed := false
		for _, f := range findings {
			verdict, text := verdictOK, ""
			if f.Problem != "" {
				verdict, text, failed = verdictFail, ": "+f.Problem, true
			}
			if _, err := fmt.Fprintf(p.out, "%-4s  %s\n", verdict, printable(f.Subject+text)); err != nil {
				return err
			}
		}
		if failed {
			return errReported
		}
		return nil
	})
}

type rotateKeysCommand struct {
	Local local `embed:""`
}

// Run makes a new data key.
func (c *rotateKeysCommand) Run(ctx context.Context, p *process) error {
	return c.Local.open(ctx, p, func(v *vault.Vault) error {
		n, err := v.RotateKeys(ctx)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.out, "sealed %d credentials with a new key\n", n)
		return err
	})
}

type rekeyCommand struct {
	KEK   string `arg:"" help:"Where the new key-encryption key is, as file:///path; made if it isn't there."`
	Local local  `embed:""`
}

// Run changes the key-encryption key.
func (c *rekeyCommand) Run(ctx context.Context, p *process) error {
	return c.Local.open(ctx, p, func(v *vault.Vault) error {
		if err := v.Rekey(ctx, c.KEK); err != nil {
			return err
		}
		_, err := fmt.Fprintf(p.out, "the vault is wrapped with %s: set GANTRY_VAULT_KEK to it\n", v.KEK())
		return err
	})
}

type exportCommand struct {
	Recipient string `required:"" help:"The age public key that the export is encrypted for (age1…)." placeholder:"KEY"`
	Output    string `required:"" help:"The file to make; - is stdout." placeholder:"FILE"`
	Local     local  `embed:""`
}

// Run writes the export. What is left of one that failed is taken away: it must not be mistaken for a backup.
func (c *exportCommand) Run(ctx context.Context, p *process) error {
	return c.Local.open(ctx, p, func(v *vault.Vault) (err error) {
		var w io.Writer = p.out
		if c.Output != "-" {
			f, openErr := os.OpenFile(c.Output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
			if errors.Is(openErr, fs.ErrExist) {
				return usageError{fmt.Errorf("%s is there already: an export overwrites nothing", c.Output)}
			}
			if openErr != nil {
				return fmt.Errorf("making the export: %w", openErr)
			}
			w = f
			defer func() { err = finish(f, err) }()
		}
		n, err := v.Export(ctx, c.Recipient, w)
		if err == nil {
			fmt.Fprintf(p.err, "exported %d credentials\n", n)
		}
		return err
	})
}

// finish brings a file to the disk, or takes it away after an error.
func finish(f *os.File, err error) error {
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}
