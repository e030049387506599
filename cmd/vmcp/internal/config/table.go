package config

import (
	"fmt"
	"strings"
)

// key is one key of an object, and how it is read into a T. The reader, the JSON Schema and
// docs/configuration.md are made of the same tables of keys, so that none can know a key that the
// others do not.
type key[T any] struct {
	about

	read func(r *reader, e entry, into *T) // nil for keys that are read together: command, url, ...
}

// about is what there is to say of a key.
type about struct {
	name     string
	others   []string // names that other programs have for it
	kind     string   // what stands there, in words; the constructors of keys fill it in
	standard string   // what holds without the key, in words
	effect   string
	example  string  // JSON
	schema   schema  // of what stands there; the constructors of keys fill it in
	least    int     // an array there has so many elements, and an empty one is not the same as none
	below    []about // the keys of the object that stands there
}

// abouts forgets how the keys are read.
func abouts[T any](keys []key[T]) []about {
	all := make([]about, len(keys))
	for i, k := range keys {
		all[i] = k.about
	}
	return all
}

func namesOf(keys []about) []string {
	names := make([]string, len(keys))
	for i, k := range keys {
		names[i] = k.name
	}
	return names
}

func find[T any](keys []key[T], name string) (key[T], bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key[T]{}, false
}

// readObject reads the members of an object, which are keys of the table or comments. What is null
// or empty counts as absent, except where that would be a list that lets nothing through.
func readObject[T any](r *reader, e entry, keys []key[T], into *T) {
	members, _ := r.members(e, "Write {"+quoted(namesOf(abouts(keys))[:1], "")+": ...}.")
	for _, m := range members {
		k, known := find(keys, m.name)
		switch {
		case isComment(m.name) || known && m.blank() && !k.meansNothing(m):
		case known:
			k.read(r, m, into)
		default:
			r.unknownKey(m, namesOf(abouts(keys)))
		}
	}
}

// meansNothing is true of an empty list that is not the same as none.
func (a about) meansNothing(e entry) bool {
	return a.least > 0 && e.kind() == '['
}

// meansNothing is the same for a key of a server.
func meansNothing(name string, e entry) bool {
	for _, k := range allServerKeys {
		if k.name == name {
			return k.meansNothing(e)
		}
	}
	return false
}

// unknownKey is for a key in an object that no other program has.
func (r *reader) unknownKey(e entry, names []string) {
	if near := nearest(e.name, names); near != "" {
		r.problem(e, "unknown key", fmt.Sprintf("Did you mean %q?", near))
		return
	}
	r.problem(e, "unknown key", "Remove it: there is "+listed(names, "and")+" only.")
}

// listed is a list in words, such as "a, b and c".
func listed(names []string, last string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " " + last + " " + names[len(names)-1]
}

// quoted is the same with each in quotes.
func quoted(names []string, last string) string {
	all := make([]string, len(names))
	for i, name := range names {
		all[i] = fmt.Sprintf("%q", name)
	}
	return listed(all, last)
}
