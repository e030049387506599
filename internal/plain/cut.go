package plain

import "unicode/utf8"

// Cut returns the first most characters of a text, whole ones, and how many it left off. A byte that is
// no UTF-8 counts as a character. It does not mark what it did: that is the caller's, who can tell
// where the rest is.
func Cut(text string, most int) (beginning string, left int) {
	kept := 0
	for i := range text {
		if kept == most {
			return text[:i], utf8.RuneCountInString(text[i:])
		}
		kept++
	}
	return text, 0
}

// Tail returns the end of a text, whole characters that are at most so many bytes, with "..." before it
// if there was more.
func Tail(text string, most int) string {
	if len(text) <= most {
		return text
	}
	from := len(text) - most
	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}
	return ellipsis + text[from:]
}
