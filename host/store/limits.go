package store

import (
	"bytes"
	"errors"
	"fmt"
	"time"
)

// Limits of keys, values and transactions, the same for every driver.
const (
	MaxKey         = 32 << 10 // bytes of a key
	MaxValue       = 16 << 20 // bytes of a value
	MaxUpdateKeys  = 10_000   // keys that one Update may write
	MaxUpdateBytes = 1 << 20  // bytes that one Update may write; a value of more than 64 KiB counts for nothing here
)

// valueThreshold is the size from which a value is kept apart from the keys, in badger's value log.
const valueThreshold = 64 << 10

// opOverhead is added to the size of each write, so that MaxUpdateBytes stays below the driver's own limit.
const opOverhead = 32

// Errors that a caller may want to tell apart.
var (
	// ErrClosed is what every call answers after Close.
	ErrClosed = errors.New("store: closed")
	// ErrConflict is what Update answers when other transactions got in its way each time it was tried.
	ErrConflict = errors.New("store: too many conflicting transactions; try again later")
	// ErrTooBig is what Put and Delete answer in an Update that outgrows MaxUpdateKeys or MaxUpdateBytes.
	ErrTooBig = fmt.Errorf("store: the transaction is over %d keys or %d bytes; split it", MaxUpdateKeys, MaxUpdateBytes)
)

var errEnded = errors.New("store: the transaction has ended; R and RW must not be kept")

// reserved begins the keys that badger keeps for itself.
var reserved = []byte("!badger!")

// op is one write of a transaction.
type op struct {
	key, value []byte
	expires    int64 // Unix seconds from which the key is gone; 0: never
	remove     bool
}

// size is what op counts towards MaxUpdateBytes.
func (o op) size() int {
	n := len(o.key) + opOverhead
	if len(o.value) <= valueThreshold {
		n += len(o.value)
	}
	return n
}

// check refuses what no driver can keep.
func (o op) check() error {
	switch {
	case len(o.key) == 0:
		return errors.New("store: the key is empty")
	case len(o.key) > MaxKey:
		return fmt.Errorf("store: a key of %d bytes is over the limit of %d", len(o.key), MaxKey)
	case bytes.HasPrefix(o.key, reserved):
		return fmt.Errorf("store: keys that begin with %q are reserved", reserved)
	case len(o.value) > MaxValue:
		return fmt.Errorf("store: a value of %d bytes is over the limit of %d", len(o.value), MaxValue)
	}
	return nil
}

// put makes the write of a key. A ttl is rounded up to the second: a key never goes earlier than asked.
func put(key, value []byte, ttl time.Duration, now time.Time) (op, error) {
	o := op{key: key, value: value}
	if ttl < 0 {
		return op{}, fmt.Errorf("store: a ttl of %s is negative", ttl)
	}
	if ttl > 0 {
		o.expires = now.Add(ttl + time.Second - time.Nanosecond).Unix()
	}
	return o, o.check()
}
