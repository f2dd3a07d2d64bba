package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/term"

	"github.com/gantry-packs/gantry/host/vault"
)

const credentialsPath = "/api/v1/vault/credentials"

type vaultCommands struct {
	List         credentialsCommand  `cmd:"" help:"List the credentials of a running service, without their values."`
	Add          addCommand          `cmd:"" help:"Keep a credential in a running service; its value is read from stdin."`
	RotateSecret rotateSecretCommand `cmd:"" help:"Give a credential a new value, read from stdin."`
	Delete       deleteCommand       `cmd:"" help:"Destroy a credential."`

	Doctor vaultDoctorCommand `cmd:"" help:"Check the vault's keys and that every credential opens (service stopped)."`
	Rotate rotateKeysCommand  `cmd:"" help:"Seal every credential with a new data key (service stopped)."`
	Rekey  rekeyCommand       `cmd:"" help:"Wrap the vault with another key-encryption key (service stopped)."`
	Export exportCommand      `cmd:"" help:"Write every credential, values too, encrypted for an age recipient (service stopped)."`
}

type credentialsCommand struct {
	JSON   bool   `name:"json" help:"Print what the service answers."`
	Remote remote `embed:""`
}

// Run prints one line a credential.
func (c *credentialsCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	raw, err := s.do(ctx, http.MethodGet, credentialsPath, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return (&callCommand{}).print(p.out, raw)
	}
	var list struct {
		Credentials []vault.Credential `json:"credentials"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("the answer of %s is not a list of credentials: %w", s.base, err)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tTYPE\tHOST\tFOR\tFINGERPRINT\tCHANGED\tLAST USED")
	for _, v := range list.Credentials {
		used := "never"
		if v.LastUsedAt != nil {
			used = v.LastUsedAt.Local().Format(time.DateTime)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", printable(v.Name), printable(v.Type), printable(v.HostPattern), printable(whom(v.ACL)),
			printable(v.Fingerprint), v.UpdatedAt.Local().Format(time.DateTime), used)
	}
	return w.Flush()
}

// whom words an ACL as --allow takes it.
func whom(acl []vault.Rule) string {
	var who []string
	for _, r := range acl {
		if r.Client == "*" {
			who = append(who, r.Subject)
		} else {
			who = append(who, r.Subject+"/"+r.Client)
		}
	}
	if who == nil {
		return "nobody"
	}
	return strings.Join(who, ",")
}

type addCommand struct {
	Name   string   `arg:"" help:"What packs call it."`
	Type   string   `default:"api_key" enum:"api_key,login,ssh-git" help:"api_key, ssh-git or login; the value of a login is {\"username\", \"password\"}."`
	Host   string   `required:"" help:"Where the value may go: host, *.suffix, either with :port, or * for anywhere."`
	Allow  []string `help:"Who may use it, as subject or subject/client; * is anybody. Default: you." placeholder:"WHO"`
	Remote remote   `embed:""`
}

// Run sends the value in a body; neither the arguments nor the output ever have it.
func (c *addCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	value, err := readSecret(p)
	if err != nil {
		return err
	}
	defer clear(value)
	body, err := json.Marshal(struct {
		Name        string       `json:"name"`
		Type        string       `json:"type"`
		HostPattern string       `json:"host_pattern"`
		Plaintext   []byte       `json:"plaintext_b64"`
		ACL         []vault.Rule `json:"acl,omitempty"`
	}{c.Name, c.Type, c.Host, value, rules(c.Allow)})
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	if _, err := s.do(ctx, http.MethodPost, credentialsPath, body); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, "added "+c.Name)
	return err
}

// rules are what --allow says.
func rules(allow []string) []vault.Rule {
	var acl []vault.Rule
	for _, who := range allow {
		subject, client, ok := strings.Cut(who, "/")
		if !ok {
			client = "*"
		}
		acl = append(acl, vault.Rule{Subject: subject, Client: client})
	}
	return acl
}

type rotateSecretCommand struct {
	Name   string `arg:"" help:"The credential's name."`
	Remote remote `embed:""`
}

// Run replaces the value.
func (c *rotateSecretCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	value, err := readSecret(p)
	if err != nil {
		return err
	}
	defer clear(value)
	body, err := json.Marshal(map[string][]byte{"plaintext_b64": value})
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	if _, err := s.do(ctx, http.MethodPut, credentialsPath+"/"+url.PathEscape(c.Name), body); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, "rotated "+c.Name)
	return err
}

type deleteCommand struct {
	Name   string `arg:"" help:"The credential's name."`
	Remote remote `embed:""`
}

// Run deletes the credential.
func (c *deleteCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	if _, err := s.do(ctx, http.MethodDelete, credentialsPath+"/"+url.PathEscape(c.Name), nil); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, "deleted "+c.Name)
	return err
}

// readSecret reads a value from stdin, from a terminal without showing it. The line's end after a single line isn't part of
// the value; text of several lines, such as a private key, is kept to the byte.
func readSecret(p *process) ([]byte, error) {
	var b []byte
	var err error
	if f, ok := p.in.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(p.err, "value (not shown): ")
		b, err = term.ReadPassword(int(f.Fd()))
		fmt.Fprintln(p.err)
	} else {
		b, err = io.ReadAll(io.LimitReader(p.in, vault.MaxPlaintext+2))
	}
	if err != nil {
		return nil, fmt.Errorf("reading the value from stdin: %w", err)
	}
	if line, ok := bytes.CutSuffix(b, []byte("\n")); ok && !bytes.Contains(line, []byte("\n")) {
		b = bytes.TrimSuffix(line, []byte("\r"))
	}
	switch {
	case len(b) == 0:
		return nil, usageError{errors.New("no value on stdin: pipe it in, as in: gantry vault add NAME --host HOST < file")}
	case len(b) > vault.MaxPlaintext:
		return nil, usageError{fmt.Errorf("the value on stdin is over %d KiB", vault.MaxPlaintext>>10)}
	}
	return b, nil
}
