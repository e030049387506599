// Package plain makes text that others wrote, servers and callers, fit to stand among one's own: on a
// terminal, on a page, in a log, on a metric and before a model. What is not seen, and could move a
// cursor, hide words or turn their order round, becomes visible; what is cut off leaves a mark.
// Nothing is taken out without a trace.
//
// It masks no secrets: mask first, so that a secret is found as it was written.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ellipsis stands where a text was cut.
const ellipsis = "..."

// Line returns a text on one line: each run of white space, line ends included, is one space, and there
// is none at its ends. Of a text that is longer than most characters, counted as they are shown, the
// beginning is left, with "..." after it.
func Line(text string, most int) string {
	var line strings.Builder
	room := most
	for _, r := range strings.Join(strings.Fields(text), " ") {
		shown := visible(r)
		if room -= utf8.RuneCountInString(shown); room < 0 {
			return strings.TrimRight(line.String(), " ") + ellipsis
		}
		line.WriteString(shown)
	}
	return line.String()
}

// Text returns a text with its lines and tabs, and whole: see [Cut] for its length.
func Text(text string) string {
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		if r == '\n' || r == '\t' {
			b.WriteRune(r)
			continue
		}
		b.WriteString(visible(r))
	}
	return b.String()
}

// visible is the symbol or the number of a character that is not seen or that says how others are:
// control and format characters (escapes, directions, joiners, those without width), and Unicode's
// separators of lines. A byte that is no UTF-8 comes as U+FFFD and stays that.
func visible(r rune) string {
	switch {
	case r < ' ':
		return string('␀' + r)
	case r == 0x7f:
		return "␡"
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
		return fmt.Sprintf("[U+%04X]", r)
	default:
		return string(r)
	}
}
