package codehost

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// The tokens that a platform made by [Start] knows.
const (
	WriterToken = "cht_writer_4b7e21d09a6f8c35" // of alice, who may do everything
	ReaderToken = "cht_reader_91c0f3a7d25e8b64" // of ron, who writes nothing
	UsedUpToken = "cht_usedup_c58d17e2609b4fa3" // of uma, who has asked too often
)

// Start runs a platform until the end of the test, with an account for each of the tokens and a repository trouble/<trouble>
// for each [Trouble]. It returns the platform and its address, to which /api/v1 may be added for Gitea's API.
func Start(t testing.TB, repos ...Repo) (s *Server, url string) {
	s = New()
	s.AddAccount(WriterToken, Account{Login: "alice"})
	s.AddAccount(ReaderToken, Account{Login: "ron", ReadOnly: true})
	s.AddAccount(UsedUpToken, Account{Login: "uma", Quota: -1})
	for _, trouble := range Troubles() {
		s.AddRepo(Repo{Name: "trouble/" + string(trouble), Trouble: trouble})
	}
	for _, r := range repos {
		s.AddRepo(r)
	}
	server := httptest.NewServer(s)
	t.Cleanup(func() {
		server.CloseClientConnections() // ends what a slow answer waits for
		server.Close()
	})
	return s, server.URL
}

// Fill gives a repository issues by alice until it has n. Numbers 17, 33 … have all of the repository's labels, the ones before them
// only the first.
func (s *Server) Fill(name string, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[strings.ToLower(name)]
	if r == nil {
		return errors.New("no repository " + name)
	}
	for number := len(r.issues) + 1; number <= n; number++ {
		made := &issue{id: s.nextID(), number: number, title: fmt.Sprintf("Issue %d", number), state: "open", author: "alice"}
		switch {
		case number%16 == 1 && number > 1:
			made.labels = slices.Clone(r.labels)
		case number%16 == 0:
			made.labels = slices.Clone(r.labels[:min(1, len(r.labels))])
		}
		r.issues = append(r.issues, made)
	}
	return nil
}

// OpenPull opens a pull request between two branches of a repository.
func (s *Server) OpenPull(name, head, base string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[strings.ToLower(name)]
	if r == nil {
		return errors.New("no repository " + name)
	}
	owner, _, _ := strings.Cut(r.Name, "/")
	r.issues = append(r.issues, &issue{
		id: s.nextID(), number: len(r.issues) + 1, title: "From " + head, state: "open", author: "alice", pull: &pull{head: owner + ":" + head, base: base},
	})
	return nil
}
