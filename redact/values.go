package redact

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Shortest is the length in bytes from which on a registered value is masked.
const Shortest = 6

// longestWord is the length from which on letters alone are taken for a secret
// wherever they stand.
const longestWord = 16

// index finds registered values in a text. It never changes once it is in use.
type index struct {
	known   map[string]struct{}
	maybe   [1 << 10]uint64     // a bit for each hash of a value's first bytes
	byStart map[uint32][]string // by the first four bytes, longest first
}

// with returns an index of more values, and whether there are any.
func (x *index) with(values []string) (*index, bool) {
	next := &index{known: map[string]struct{}{}}
	if x != nil {
		next.known = maps.Clone(x.known)
	}
	before := len(next.known)
	for _, value := range values {
		for _, form := range formsOf(value) {
			next.known[form] = struct{}{}
		}
	}
	next.build()
	return next, len(next.known) > before
}

func (x *index) build() {
	x.byStart = make(map[uint32][]string, len(x.known))
	for value := range x.known {
		start := startOf(value, 0)
		x.byStart[start] = append(x.byStart[start], value)
		hash := hashOf(start)
		x.maybe[hash>>6] |= 1 << (hash & 63)
	}
	for _, values := range x.byStart {
		slices.SortFunc(values, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	}
}

// formsOf returns a value as it is and as others write it.
func formsOf(value string) []string {
	value = strings.TrimSpace(value)
	if len(value) < Shortest {
		return nil
	}
	forms := []string{value, url.QueryEscape(value), url.PathEscape(value), unquoted(strconv.Quote(value))}
	if quoted, err := json.Marshal(value); err == nil {
		forms = append(forms, unquoted(string(quoted)))
	}
	if quoted, err := encode(value); err == nil { // without escapes for HTML
		forms = append(forms, unquoted(string(quoted)))
	}
	return forms
}

func unquoted(text string) string { return text[1 : len(text)-1] }

// match returns where the longest value that begins at i ends, or 0.
func (x *index) match(text string, i int) int {
	if len(text)-i < Shortest {
		return 0
	}
	start := startOf(text, i)
	hash := hashOf(start)
	if x.maybe[hash>>6]&(1<<(hash&63)) == 0 {
		return 0
	}
	for _, value := range x.byStart[start] {
		if strings.HasPrefix(text[i:], value) && (!isWord(value) || standsAlone(text, i, i+len(value))) {
			return i + len(value)
		}
	}
	return 0
}

func startOf(text string, i int) uint32 {
	_ = text[i+3]
	return uint32(text[i]) | uint32(text[i+1])<<8 | uint32(text[i+2])<<16 | uint32(text[i+3])<<24
}

func hashOf(start uint32) uint32 { return start * 2654435761 >> 16 }

func isWord(value string) bool {
	if len(value) >= longestWord {
		return false
	}
	for i := range len(value) {
		if !isLetter(value[i]) {
			return false
		}
	}
	return true
}

func standsAlone(text string, from, to int) bool {
	return isBoundary(text, from) && (from == 0 || text[from-1] != '_') &&
		(to == len(text) || !isAlphanumeric(text[to]) && text[to] != '_')
}
