package vmcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// longestName is the protocol's limit on a tool's name, in characters, all of
// them ASCII letters, digits, "_", "-" and "."
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names).
const longestName = 128

// Names says how the tools and prompts of the backends are named.
type Names int

// The ways to name. A name that would not be valid, or too long, ends in a hash
// instead in each of them.
const (
	// Prefixed names are <prefix>_<name>, with [Backend.Prefix]. All that
	// would be called the same get a hash.
	Prefixed Names = iota
	// Priority leaves out the prefixes. Of several that would be called the
	// same, that of the backend that was given first has the name, and the
	// others are left out.
	Priority
	// Plain leaves out the prefixes, and each of several that would be called
	// the same: which it is does not depend on any order.
	Plain
)

// String names the way.
func (n Names) String() string {
	switch n {
	case Prefixed:
		return "prefix"
	case Priority:
		return "priority"
	case Plain:
		return "none"
	default:
		return "Names(" + strconv.Itoa(int(n)) + ")"
	}
}

// choose returns those of the things that can have the names that they want, and
// for each other one that it would be called the same as.
func (n Names) choose(things []owned, plain func(owned) string) (chosen []owned, lost map[owned]owned) {
	if n == Prefixed {
		return things, nil
	}
	wanting := map[string][]owned{}
	for _, thing := range things {
		wanting[plain(thing)] = append(wanting[plain(thing)], thing)
	}
	lost = map[owned]owned{}
	for _, thing := range things {
		same := wanting[plain(thing)]
		switch {
		case len(same) == 1, n == Priority && same[0] == thing:
			chosen = append(chosen, thing)
		case same[0] == thing:
			lost[thing] = same[1]
		default:
			lost[thing] = same[0]
		}
	}
	return chosen, lost
}

// owned is something that a backend has under a name of its own.
type owned struct {
	backend, name string
}

// prefixed is what something is called if nothing stands in the way.
func prefixed(o owned) string { return o.backend + "_" + o.name }

// hashLengths are how many hexadecimal digits a name may end in: none where
// the plain name serves, then as many as tell it from all others.
var hashLengths = []int{0, 8, 16, 64}

// exposedNames gives each of the things, all different, a name of its own,
// which is its plain one if that serves. The result depends on the set of things
// only.
func exposedNames(things []owned, plain func(owned) string) map[owned]string {
	names := make(map[owned]string, len(things))
	taken := map[string]bool{}
	for _, digits := range hashLengths {
		candidates := map[string][]owned{}
		for _, thing := range things {
			if _, done := names[thing]; done {
				continue
			}
			if name, ok := thing.exposed(plain(thing), digits); ok {
				candidates[name] = append(candidates[name], thing)
			}
		}
		for name, wanting := range candidates {
			if len(wanting) == 1 && !taken[name] {
				names[wanting[0]] = name
			}
		}
		for _, name := range names {
			taken[name] = true
		}
	}
	return names
}

// exposed returns the name with a hash of that many digits. Without a hash only
// a name that is valid as it is will do.
func (o owned) exposed(plain string, digits int) (string, bool) {
	if digits == 0 {
		return plain, o.name != "" && validName(plain)
	}
	valid := strings.Map(toValid, plain)
	sum := sha256.Sum256([]byte(o.backend + "\x00" + o.name))
	suffix := "_" + hex.EncodeToString(sum[:])[:digits]
	return valid[:min(len(valid), longestName-len(suffix))] + suffix, true
}

func validName(name string) bool {
	return name != "" && len(name) <= longestName && strings.Map(toValid, name) == name
}

// toValid maps a character that a tool's name may not have to "_".
func toValid(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-', r == '.':
		return r
	default:
		return '_'
	}
}

// prefixing returns the longest of the prefixes that a name begins with, or "":
// the prefix of one backend may begin with that of another.
func prefixing(prefixes []string, name string) (longest string) {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix+"_") && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	return longest
}
