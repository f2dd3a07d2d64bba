package vault

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gantry-packs/gantry/host/store"
	"github.com/gantry-packs/gantry/pdk/wire"
)

// The limits of the use log.
const (
	useRetention  = 90 * 24 * time.Hour
	defaultLimit  = 100
	maxLimit      = 1000
	maxUseField   = 256 // bytes of a text in a row; some come from strangers
	usePrefix     = "vault/use/"
	useTimeSize   = 8
	useRandomSize = 4
	useIDSize     = useTimeSize + useRandomSize
)

// Result says how an asking ended.
type Result string

// The results: Denied is the ACL's, NoMatch means that there is no such credential or that it isn't for this type or host.
const (
	Allowed Result = "allowed"
	Denied  Result = "denied"
	NoMatch Result = "no_match"
)

// Use is a row of the use log.
type Use struct {
	At      time.Time `json:"at"`
	Subject string    `json:"subject"`
	Client  string    `json:"client"`
	Pack    string    `json:"pack"`
	Host    string    `json:"host"`
	Result  Result    `json:"result"`
}

// useLog keeps rows under vault/use/<name>/<8 bytes of nanoseconds><4 random bytes>. A name has no slash, so that no
// name's rows begin like another's.
type useLog struct {
	store store.Store
	now   func() time.Time
	mu    sync.Mutex
	last  int64 // time of the newest row, so that rows are in order when the clock isn't
}

func (l *useLog) key(name string, at time.Time) []byte {
	l.mu.Lock()
	l.last = max(at.UnixNano(), l.last+1)
	n := l.last
	l.mu.Unlock()
	key := binary.BigEndian.AppendUint64([]byte(usePrefix+name+"/"), uint64(n))
	key = append(key, make([]byte, useRandomSize)...)
	_, _ = rand.Read(key[len(key)-useRandomSize:]) // never fails: it ends the process instead
	return key
}

// logUse writes the row of an asking and, if it was allowed, when the credential with this id was last used. It is written
// also when the caller has gone meanwhile.
func (v *Vault) logUse(ctx context.Context, a Ask, id string, result Result) error {
	at := v.now().UTC()
	use := Use{At: at, Subject: clip(a.Caller.Subject), Client: clip(a.Caller.Client), Pack: clip(a.Pack), Host: clip(a.Host), Result: result}
	value, err := json.Marshal(use)
	if err != nil {
		return fmt.Errorf("encoding a use: %w", err)
	}
	rows := []store.Row{{Key: v.uses.key(a.Name, at), Value: value, TTL: useRetention}}
	if result == Allowed {
		value, err := json.Marshal(at)
		if err != nil {
			return fmt.Errorf("encoding a use: %w", err)
		}
		rows = append(rows, store.Row{Key: v.used.Key(id), Value: value})
	}
	if err := v.store.Append(context.WithoutCancel(ctx), rows...); err != nil {
		return fmt.Errorf("logging a use: %w", err)
	}
	return nil
}

func clip(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxUseField)], "") }

// Usage gives a page of the askings for a name within 90 days, newest first, and the cursor of the next page, empty after
// the last. It knows names that were asked for in vain and those of deleted credentials; a name that nobody ever asked
// for and that isn't in the vault is credential_not_found. limit is 1 to 1000, 0: 100.
func (v *Vault) Usage(ctx context.Context, name string, limit int, cursor string) (uses []Use, next string, err error) {
	if limit == 0 {
		limit = defaultLimit
	}
	if limit < 1 || limit > maxLimit {
		return nil, "", wire.Invalid("limit is %d: give a number from 1 to %d", limit, maxLimit)
	}
	if !nameForm.MatchString(name) {
		return nil, "", reading(store.ErrNotFound, name)
	}
	prefix := []byte(usePrefix + name + "/")
	var from []byte
	if cursor != "" {
		id, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || len(id) != useIDSize {
			return nil, "", wire.Invalid("cursor is not one that this list gave: leave it out to begin with the newest use")
		}
		from = append(prefix, id...)
	}
	uses = []Use{}
	err = v.store.View(ctx, func(r store.R) error {
		err := r.Scan(prefix, from, store.ScanOptions{Reverse: true, Limit: limit + 1}, func(k, raw []byte) (bool, error) {
			if len(uses) == limit {
				next = base64.RawURLEncoding.EncodeToString(k[len(prefix):])
				return false, nil
			}
			var u Use
			err := json.Unmarshal(raw, &u)
			uses = append(uses, u)
			return true, err
		})
		if err == nil && len(uses) == 0 {
			_, err = v.credentials.Get(r, name)
		}
		return err
	})
	return uses, next, reading(err, name)
}
