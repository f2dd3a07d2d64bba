package memorystore

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/gantry-packs/gantry/pdk"
)

// maxTTL is the longest time to live, in seconds: ten years. For longer, leave ttl out.
const maxTTL = 10 * 365 * 24 * 60 * 60

// ttlSeconds reads seconds from a number or from a text such as 90s, 24h or 30d; a part of a second counts as a whole one,
// for 0 would mean for ever.
func ttlSeconds(raw json.RawMessage) (int64, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return 0, nil
	}
	var seconds float64
	var text string
	switch {
	case json.Unmarshal(raw, &seconds) == nil:
	case json.Unmarshal(raw, &text) == nil:
		d, ok := duration(text)
		if !ok {
			return 0, pdk.Invalid("ttl %q is not a time: give seconds, or a text such as 90s, 15m, 24h or 30d", text)
		}
		seconds = d
	default:
		return 0, pdk.Invalid("ttl must be a number of seconds or a text such as 24h or 30d")
	}
	if !(seconds > 0) || seconds > maxTTL {
		return 0, pdk.Invalid("ttl must be more than 0 and at most 3650d; leave it out to keep the value for ever")
	}
	return int64(math.Ceil(seconds)), nil
}

// duration reads what time.ParseDuration does, or whole or fractional days with a d.
func duration(text string) (seconds float64, ok bool) {
	if n := len(text); n > 1 && text[n-1] == 'd' {
		days, err := strconv.ParseFloat(text[:n-1], 64)
		return days * 24 * 60 * 60, err == nil
	}
	d, err := time.ParseDuration(text)
	return d.Seconds(), err == nil
}
