package vmcp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// longestName is the protocol's limit on a tool's name, in characters, all of
// them ASCII letters, digits, "_", "-" and "."
// (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names).
const longestName = 128

// owned is something that a backend has under a name of its own.
type owned struct {
	backend, name string
}

// hashLengths are how many hexadecimal digits a name may end in: none where
// the plain name serves, then as many as tell it from all others.
var hashLengths = []int{0, 8, 16, 64}

// exposedNames gives each of the things, all different, a name of its own. The
// result depends on the set of things only.
func exposedNames(things []owned) map[owned]string {
	names := make(map[owned]string, len(things))
	taken := map[string]bool{}
	for _, digits := range hashLengths {
		candidates := map[string][]owned{}
		for _, thing := range things {
			if _, done := names[thing]; done {
				continue
			}
			if name, ok := thing.exposed(digits); ok {
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
func (o owned) exposed(digits int) (string, bool) {
	plain := o.backend + "_" + o.name
	valid := strings.Map(toValid, plain)
	if digits == 0 {
		return plain, valid == plain && o.name != "" && len(plain) <= longestName
	}
	sum := sha256.Sum256([]byte(o.backend + "\x00" + o.name))
	suffix := "_" + hex.EncodeToString(sum[:])[:digits]
	return valid[:min(len(valid), longestName-len(suffix))] + suffix, true
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
