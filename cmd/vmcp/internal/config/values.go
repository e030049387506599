package config

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// What stands behind a key: each function makes a key of such a value from what there is to say of
// it and from the field that it is for.

// toggle is a key for true or false; inverse keys say the opposite of their field.
func toggle[T any](a about, inverse bool, field func(*T) *bool) key[T] {
	a.kind = "boolean"
	a.schema = schema{"type": []string{"boolean", "null"}}
	return key[T]{a, func(r *reader, e entry, into *T) {
		if e.kind() != 't' && e.kind() != 'f' {
			r.wrongKind(e, "true or false", "Write true or false, without quotes.")
			return
		}
		*field(into) = (e.kind() == 't') != inverse
	}}
}

// The bounds of every duration: below, or above, somebody has the wrong unit.
const (
	shortest = time.Millisecond
	longest  = 24 * time.Hour
)

// durationPattern leaves out the nanoseconds of Go: nobody waits for so little.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`

var durationText = regexp.MustCompile(durationPattern)

// wait is a key for a duration.
func wait[T any](a about, field func(*T) *time.Duration) key[T] {
	a.kind = "duration"
	a.schema = schema{"type": []string{"string", "null"}, "pattern": "^$|" + durationPattern}
	return key[T]{a, func(r *reader, e entry, into *T) { *field(into) = r.duration(e) }}
}

// brief is a duration as a file has it: "1m", not "1m0s".
func brief(d time.Duration) string {
	text := d.String()
	for _, unit := range []string{"m", "h"} {
		if strings.HasSuffix(text, unit+"0s") || strings.HasSuffix(text, unit+"0m") {
			text = text[:len(text)-2]
		}
	}
	return text
}

func (r *reader) duration(e entry) time.Duration {
	const remedy = `Write a number with its unit, ms, s, m or h, such as "30s" or "1m30s".`
	if e.kind() != '"' {
		r.wrongKind(e, "a duration in quotes", remedy)
		return 0
	}
	d, err := time.ParseDuration(e.text())
	switch {
	case err != nil || !durationText.MatchString(e.text()):
		r.problem(e, "not a duration above zero", remedy)
		return 0
	case d < shortest || d > longest:
		r.problem(e, "a duration out of bounds", `Write one from "1ms" to "24h".`)
		return 0
	}
	return d
}

// count is a key for a whole number within bounds.
func count[T any, N int | int64](a about, least, most int64, field func(*T) *N) key[T] {
	a.kind = fmt.Sprintf("whole number, %d to %d", least, most)
	a.schema = schema{"type": []string{"integer", "null"}, "minimum": least, "maximum": most}
	return key[T]{a, func(r *reader, e entry, into *T) { *field(into) = N(r.number(e, least, most)) }}
}

func (r *reader) number(e entry, least, most int64) int64 {
	remedy := fmt.Sprintf("Write one from %d to %d, without quotes.", least, most)
	if e.kind() != '0' {
		r.wrongKind(e, "a whole number", remedy)
		return 0
	}
	literal, _ := e.value.Value.(hujson.Literal)
	n, err := strconv.ParseFloat(string(literal), 64)
	if err != nil || n != math.Trunc(n) || n < float64(least) || n > float64(most) {
		r.problem(e, "not a whole number within bounds", remedy)
		return 0
	}
	return int64(n)
}

// choice is a key for one of some values, by their words.
func choice[T, V any](a about, values []V, field func(*T) *V) key[T] {
	words, all := make([]string, len(values)), []any{nil, ""}
	for i, value := range values {
		words[i] = fmt.Sprint(value)
		all = append(all, words[i])
	}
	a.kind = quoted(words, "or")
	a.schema = schema{"enum": all}
	return key[T]{a, func(r *reader, e entry, into *T) {
		chosen := slices.Index(words, e.text())
		if e.kind() != '"' || chosen < 0 {
			r.problem(e, "not one of the values that there are", "Write "+quoted(words, "or")+".")
			return
		}
		*field(into) = values[chosen]
	}}
}

// option is a key for one of two words, of which the second sets its field.
func option[T any](a about, off, on string, field func(*T) *bool) key[T] {
	word := choice(a, []string{off, on}, func(chosen *string) *string { return chosen })
	return key[T]{word.about, func(r *reader, e entry, into *T) {
		var chosen string
		word.read(r, e, &chosen)
		*field(into) = chosen == on
	}}
}

// file is a key for a path, in which variables are replaced.
func file[T any](a about, field func(*T) *string) key[T] {
	a.kind = "path of a file"
	a.schema = schema{"type": []string{"string", "null"}}
	return key[T]{a, func(r *reader, e entry, into *T) { *field(into), _ = r.text(e) }}
}

// object is a key for an object that has keys of its own.
func object[T, U any](a about, keys []key[U], field func(*T) *U) key[T] {
	a.kind = "object"
	a.below = abouts(keys)
	a.schema = objectSchema(a.below)
	return key[T]{a, func(r *reader, e entry, into *T) { readObject(r, e, keys, field(into)) }}
}

// words is a key for a list of strings, each of which check finds no fault with.
func words[T any](a about, pattern string, check func(string) fault, field func(*T) *[]string) key[T] {
	item := schema{"type": "string", "minLength": 1}
	if pattern != "" {
		item["pattern"] = pattern
	}
	a.schema = schema{"type": []string{"array", "null"}, "items": item}
	if a.least > 0 {
		a.schema["minItems"] = a.least
	}
	return key[T]{a, func(r *reader, e entry, into *T) {
		*field(into) = r.words(e, a.least, "Write "+a.example+".", check)
	}}
}

// words are strings in which no variable is replaced.
func (r *reader) words(e entry, least int, remedy string, check func(string) fault) []string {
	array, ok := e.value.Value.(*hujson.Array)
	if !ok {
		r.wrongKind(e, "an array of strings", remedy)
		return nil
	}
	if len(array.Elements) < least {
		r.problem(e, "an empty list lets nothing through", `Write ["*"] for all, or set "disabled" to true in the server.`)
	}
	var all []string
	for i, v := range array.Elements {
		if word, ok := r.word(e.element(i, v), check); ok {
			all = append(all, word)
		}
	}
	return all
}

func (r *reader) word(e entry, check func(string) fault) (string, bool) {
	if e.kind() != '"' {
		r.wrongKind(e, "a string", "Write a string in quotes, or remove it.")
		return "", false
	}
	if f := check(e.text()); f.problem != "" {
		r.problem(e, f.problem, f.remedy)
		return "", false
	}
	return e.text(), true
}

// glob finds fault with what path.Match cannot read.
func glob(pattern string) fault {
	if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
		return fault{"not a pattern", `Write a name, in which "*" stands for any characters, "?" for one and "[a-z]" for one of these.`}
	}
	return fault{}
}
