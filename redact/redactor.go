package redact

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask is what stands in place of a secret.
const Mask = "***"

// A Redactor masks secrets. It is safe for concurrent use. The zero value
// works; it has no registered values.
type Redactor struct {
	keys map[string]struct{} // as folded; more than those of keys.go

	adding sync.Mutex
	values atomic.Pointer[index]
}

// An Option says more of what is secret.
type Option func(*Redactor)

// Values registers exact values, such as the tokens that the program itself
// was given. Those of fewer than [Shortest] bytes are left out: they are words
// that occur by chance. One of fewer than 16 letters and nothing else is masked
// only where it stands as a word.
func Values(values ...string) Option {
	return func(r *Redactor) { r.Add(values...) }
}

// Keys names further keys whose values are secrets. Case and the characters
// "_", "-", "." and " " do not matter; otherwise the whole name counts.
func Keys(names ...string) Option {
	return func(r *Redactor) {
		if r.keys == nil {
			r.keys = map[string]struct{}{}
		}
		for _, name := range names {
			r.keys[fold(name)] = struct{}{}
		}
	}
}

// New returns a redactor. Nil options are skipped.
func New(options ...Option) *Redactor {
	r := &Redactor{}
	for _, option := range options {
		if option != nil {
			option(r)
		}
	}
	return r
}

// Middleware returns the Handler method of a new redactor, as slog-multi's Pipe
// takes it. A program that registers values later keeps a [Redactor] and pipes
// its Handler.
func Middleware(options ...Option) func(slog.Handler) slog.Handler {
	return New(options...).Handler
}

// Add registers values as [Values] does, at any time. There is no way to
// unregister one: a secret that is no longer used may still be repeated.
func (r *Redactor) Add(values ...string) {
	r.adding.Lock()
	defer r.adding.Unlock()
	if next, more := r.values.Load().with(values); more {
		r.values.Store(next)
	}
}

// Text returns the text with its secrets masked. Without any it returns the
// text itself and does not allocate.
func (r *Redactor) Text(text string) string {
	found, ok := r.next(text, 0)
	if !ok {
		return text
	}
	var masked strings.Builder
	rest := 0
	for ok {
		masked.WriteString(text[rest:found.from])
		masked.WriteString(Mask)
		rest = found.to
		found, ok = r.next(text, rest)
	}
	masked.WriteString(text[rest:])
	return masked.String()
}

// span is where a secret stands in a text.
type span struct{ from, to int }

// next finds the first secret that ends after from.
func (r *Redactor) next(text string, from int) (span, bool) {
	values := r.values.Load()
	for i := from; i < len(text); i++ {
		if values != nil {
			if to := values.match(text, i); to > i {
				return span{i, to}, true
			}
		}
		sign := signs[text[i]]
		if sign == nil || i > 0 && isInWord(text, i) {
			continue
		}
		if found, ok := sign(r, text, i); ok {
			return found, true
		}
	}
	return span{}, false
}
