package status

import (
	"fmt"

	"github.com/mcp-candor/candor/internal/plain"
)

// The most characters of one text that the page shows. JSON has all of them.
const (
	mostShort = 200
	mostText  = 1_000
	mostLong  = 50_000
)

// text is a server's text for the page: what cannot be seen is made visible, so
// that it neither hides nor reorders anything, and what would bury the rest is cut.
func text(s string) string { return clip(s, mostText) }

// short is text for names.
func short(s string) string { return clip(s, mostShort) }

// long is text for what is written to be read apart.
func long(s string) string { return clip(s, mostLong) }

func clip(s string, most int) string {
	beginning, left := plain.Cut(s, most)
	if left > 0 {
		return fmt.Sprintf("%s… (%d more characters: see /status)", plain.Text(beginning), left)
	}
	return plain.Text(s)
}
