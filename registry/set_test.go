package registry

import (
	"slices"
	"sync"
	"testing"
)

func named(name, version, source string) *Pack {
	return &Pack{Manifest: Manifest{Name: name, Version: version}, Source: source}
}

func names(s *Set) (list []string) {
	for _, p := range s.List() {
		list = append(list, p.Name+"@"+p.Version)
	}
	return list
}

func TestSet(t *testing.T) {
	s := NewSet()
	for _, p := range []*Pack{named("text.upper", "v1", Marketplace), named("http.fetch", "v1", Core), named("text.upper", "v2", Marketplace)} {
		if err := s.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(s); !slices.Equal(got, []string{"http.fetch@v1", "text.upper@v2"}) {
		t.Errorf("List() = %v", got)
	}
	if p, ok := s.Lookup("text.upper"); !ok || p.Version != "v2" {
		t.Errorf("Lookup = %v, %v", p, ok)
	}
	if !s.Remove("text.upper") || s.Remove("text.upper") {
		t.Error("Remove doesn't say whether there was a pack")
	}
	if _, ok := s.Lookup("text.upper"); ok {
		t.Error("a removed pack is found")
	}
	s.List()[0] = nil
	if s.List()[0] == nil {
		t.Error("List hands out its own slice")
	}
}

func TestSetKeepsCorePacks(t *testing.T) {
	s := NewSet()
	if err := s.Add(named("http.fetch", "v1", Core)); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(named("http.fetch", "v9", Marketplace)); err == nil {
		t.Error("an installed pack took a core name")
	}
	if p, _ := s.Lookup("http.fetch"); p.Version != "v1" {
		t.Errorf("http.fetch is %s now", p.Version)
	}
	if err := s.Add(named("http.fetch", "v2", Core)); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"", "../x.y", "fetch"} {
		if err := s.Add(named(name, "v1", Core)); err == nil {
			t.Errorf("a pack called %q was added", name)
		}
	}
}

func TestSetWatch(t *testing.T) {
	s := NewSet()
	var seen []string
	stop := s.Watch(func(c Change) {
		switch {
		case c.Old == nil:
			seen = append(seen, "new "+c.New.Version)
		case c.New == nil:
			seen = append(seen, "gone "+c.Old.Version)
		default:
			seen = append(seen, c.Old.Version+" to "+c.New.Version)
		}
		if c.New != nil {
			if p, _ := s.Lookup(c.New.Name); p != c.New {
				t.Error("a watcher was told before the switch")
			}
		}
	})
	add := func(version string) {
		if err := s.Add(named("text.upper", version, Marketplace)); err != nil {
			t.Fatal(err)
		}
	}
	add("v1")
	add("v2")
	s.Remove("text.upper")
	stop()
	stop()
	add("v3")
	if want := []string{"new v1", "v1 to v2", "gone v2"}; !slices.Equal(seen, want) {
		t.Errorf("told %v, want %v", seen, want)
	}
}

// Readers see whole snapshots while packs come and go: run with -race.
func TestSetConcurrently(t *testing.T) {
	s := NewSet()
	if err := s.Add(named("http.fetch", "v1", Core)); err != nil {
		t.Fatal(err)
	}
	var told int // without a lock of its own: watchers are told one at a time
	s.Watch(func(Change) { told++ })
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for i := range 4 {
		name := "text.p" + string(rune('a'+i))
		writers.Go(func() {
			for range 200 {
				if err := s.Add(named(name, "v1", Marketplace)); err != nil {
					t.Error(err)
				}
				s.Remove(name)
			}
		})
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if _, ok := s.Lookup("http.fetch"); !ok {
					t.Error("a pack that nobody touched is gone")
				}
				if list := names(s); !slices.IsSorted(list) {
					t.Errorf("List() = %v", list)
				}
				s.Lookup(name)
			}
		})
	}
	for range 50 {
		s.Watch(func(Change) {})()
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if told != 4*200*2 {
		t.Errorf("told %d changes of %d", told, 4*200*2)
	}
	if got := names(s); !slices.Equal(got, []string{"http.fetch@v1"}) {
		t.Errorf("left over: %v", got)
	}
}
