package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gantry-packs/gantry/host/auth"
)

const tokensPath = "/api/v1/auth/tokens"

type tokenCommands struct {
	Mint   mintCommand   `cmd:"" help:"Make a token and print it; it can't be read again."`
	List   tokensCommand `cmd:"" help:"List the tokens, without their secrets."`
	Revoke revokeCommand `cmd:"" help:"Revoke a token, at once."`
}

type mintCommand struct {
	Name    string   `required:"" help:"What the token is for."`
	Scopes  []string `required:"" help:"Scopes, such as packs:call,packs:read; admin is all."`
	TTL     string   `name:"ttl" default:"24h" help:"How long it is good for, such as 12h or 30d."`
	Subject string   `help:"Who owns what the token's calls make. Default: you."`
	Client  string   `help:"The program that will hold the token."`
	Remote  remote   `embed:""`
}

// Run prints the token alone on stdout, so that TOKEN=$(gantry token mint …) works.
func (c *mintCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	body, err := json.Marshal(auth.TokenRequest{Name: c.Name, Subject: c.Subject, Client: c.Client, Scopes: c.Scopes, TTL: c.TTL})
	if err != nil {
		return fmt.Errorf("writing the request: %w", err)
	}
	raw, err := s.do(ctx, http.MethodPost, tokensPath, body)
	if err != nil {
		return err
	}
	var made struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(raw, &made); err != nil || made.Token == "" {
		return fmt.Errorf("%s answered no token: is it Gantry?", s.base)
	}
	_, err = fmt.Fprintln(p.out, made.Token)
	return err
}

type tokensCommand struct {
	JSON   bool   `name:"json" help:"Print what the service answers."`
	Remote remote `embed:""`
}

// Run prints one line a token.
func (c *tokensCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	raw, err := s.do(ctx, http.MethodGet, tokensPath, nil)
	if err != nil {
		return err
	}
	if c.JSON {
		return (&callCommand{}).print(p.out, raw)
	}
	var list struct {
		Tokens []auth.Token `json:"tokens"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return fmt.Errorf("the answer of %s is not a list of tokens: %w", s.base, err)
	}
	w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tNAME\tSUBJECT\tCLIENT\tSCOPES\tEXPIRES")
	for _, t := range list.Tokens {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", t.ID, printable(t.Name), printable(t.Subject), printable(t.Client),
			strings.Join(t.Scopes, ","), t.ExpiresAt.Local().Format(time.DateTime))
	}
	return w.Flush()
}

type revokeCommand struct {
	ID     string `arg:"" help:"The token's id, as list prints it."`
	Remote remote `embed:""`
}

// Run revokes the token.
func (c *revokeCommand) Run(ctx context.Context, p *process) error {
	s, err := c.Remote.connect(p)
	if err != nil {
		return err
	}
	if _, err := s.do(ctx, http.MethodDelete, tokensPath+"/"+url.PathEscape(c.ID), nil); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.out, "revoked "+c.ID)
	return err
}
