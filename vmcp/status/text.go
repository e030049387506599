package status

import (
	"fmt"
	"strings"
	"unicode"
)

// The most characters of one text that the page shows. JSON has all of them.
const (
	mostShort = 200
	mostText  = 1_000
	mostLong  = 50_000
)

// text is a server's text for the page: what cannot be seen is made visible, so
// that it neither hides nor reorders anything, and what would bury the rest is cut.
func text(s string) string { return visible(clip(s, mostText)) }

// short is text for names.
func short(s string) string { return visible(clip(s, mostShort)) }

// long is text for what is written to be read apart.
func long(s string) string { return visible(clip(s, mostLong)) }

func clip(s string, most int) string {
	runes := []rune(s)
	if len(runes) <= most {
		return s
	}
	return fmt.Sprintf("%s… (%d more characters: see /status)", string(runes[:most]), len(runes)-most)
}

// visible keeps lines and tabs. Whatever else controls a terminal or the
// direction of text becomes a symbol or its number.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\n' || r == '\t':
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			fmt.Fprintf(&b, "[U+%04X]", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
