package registry

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Set is the packs that exist, by name. Readers see one snapshot and never wait; changes are made one after the other.
type Set struct {
	now atomic.Pointer[snapshot]

	mu       sync.Mutex // held by changes, from the snapshot they start from to the last watcher they tell
	watchers []*watcher
}

// snapshot never changes once it is published.
type snapshot struct {
	byName map[string]*Pack
	sorted []*Pack
}

type watcher struct{ told func(Change) }

// Change is what happened to one name: Old is nil for a new pack, New for a removed one.
type Change struct {
	Old, New *Pack
}

// NewSet makes an empty set.
func NewSet() *Set {
	s := &Set{}
	s.now.Store(&snapshot{byName: map[string]*Pack{}})
	return s
}

// Lookup finds a pack.
func (s *Set) Lookup(name string) (*Pack, bool) {
	p, ok := s.now.Load().byName[name]
	return p, ok
}

// List returns all packs by name.
func (s *Set) List() []*Pack { return slices.Clone(s.now.Load().sorted) }

// Add adds a pack, in the place of one of the same name. A core pack can't be replaced by one from a marketplace.
func (s *Set) Add(p *Pack) error {
	if !ValidName(p.Name) {
		return fmt.Errorf("%s is not a pack name", shown(p.Name))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now.Load().byName[p.Name]
	if old != nil && old.Source == Core && p.Source != Core {
		return fmt.Errorf("%s is the name of a core pack: an installed pack can't take it", p.Name)
	}
	s.publish(func(m map[string]*Pack) { m[p.Name] = p }, Change{Old: old, New: p})
	return nil
}

// Remove removes a pack and says whether there was one. A call that is running keeps the pack it has looked up.
func (s *Set) Remove(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.now.Load().byName[name]
	if old == nil {
		return false
	}
	s.publish(func(m map[string]*Pack) { delete(m, name) }, Change{Old: old})
	return true
}

// publish switches to a changed copy and tells the watchers. The caller holds mu.
func (s *Set) publish(change func(map[string]*Pack), c Change) {
	next := &snapshot{byName: maps.Clone(s.now.Load().byName)}
	change(next.byName)
	next.sorted = slices.SortedFunc(maps.Values(next.byName), func(a, b *Pack) int { return strings.Compare(a.Name, b.Name) })
	s.now.Store(next)
	for _, w := range slices.Clone(s.watchers) {
		w.told(c)
	}
}

// Watch has told called for every change, in order, after Lookup sees it and before Add or Remove returns. told may read the
// set, but must not change or watch it. After stop has returned, told is not called again.
func (s *Set) Watch(told func(Change)) (stop func()) {
	w := &watcher{told}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, w)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.watchers = slices.DeleteFunc(slices.Clone(s.watchers), func(other *watcher) bool { return other == w })
	}
}
