package redact

import "strings"

func isLower(c byte) bool        { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool        { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool        { return '0' <= c && c <= '9' }
func isLetter(c byte) bool       { return isLower(c) || isUpper(c) }
func isAlphanumeric(c byte) bool { return isLetter(c) || isDigit(c) }
func isHex(c byte) bool          { return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }
func isSpace(c byte) bool        { return c == ' ' || c == '\t' }
func isQuote(c byte) bool        { return c == '"' || c == '\'' || c == '`' }

// isKey is true of what names of keys, headers and variables consist of.
func isKey(c byte) bool { return isAlphanumeric(c) || c == '_' || c == '-' || c == '.' }

// isToken is true of what most tokens consist of.
func isToken(c byte) bool { return isAlphanumeric(c) || c == '_' || c == '-' }

// isCredential is true of what follows Bearer and Basic.
func isCredential(c byte) bool {
	return isToken(c) || c == '.' || c == '~' || c == '+' || c == '/' || c == '='
}

func lower(c byte) byte {
	if isUpper(c) {
		return c + 'a' - 'A'
	}
	return c
}

// run returns where what begins at i and consists of such bytes ends.
func run(text string, i int, of func(byte) bool) int {
	for i < len(text) && of(text[i]) {
		i++
	}
	return i
}

// isBoundary says whether a word may begin at i: after what is neither letter
// nor digit, or after what only looks so, such as the n of an escaped line break.
func isBoundary(text string, i int) bool {
	if i == 0 || !isAlphanumeric(text[i-1]) {
		return true
	}
	if i >= 2 && text[i-2] == '\\' {
		return strings.IndexByte("nrt", text[i-1]) >= 0
	}
	return i >= 3 && (text[i-3] == '%' || i >= 6 && text[i-6] == '\\') && isEscape(text, i)
}

// isInWord is true where there is no boundary between two letters or digits. It
// is asked for each byte of a text.
func isInWord(text string, i int) bool {
	return alphanumeric[text[i]] && alphanumeric[text[i-1]] && !isBoundary(text, i)
}

var alphanumeric = func() (table [256]bool) {
	for i := range table {
		table[i] = isAlphanumeric(byte(i))
	}
	return table
}()

// isEscape says whether what ends before i is %XX or \uXXXX.
func isEscape(text string, i int) bool {
	if !isHex(text[i-1]) || !isHex(text[i-2]) {
		return false
	}
	return text[i-3] == '%' || text[i-6:i-4] == `\u` && isHex(text[i-3]) && isHex(text[i-4])
}

// looksRandom is true of what no word of a sentence looks like: it has a digit, a
// sign, or a capital in its middle.
func looksRandom(text string) bool {
	for i := range len(text) {
		c := text[i]
		if isDigit(c) || strings.IndexByte("_+/=!@#$%^&*~", c) >= 0 || i > 0 && isUpper(c) && isLower(text[i-1]) {
			return true
		}
	}
	return false
}

// isSeparator is true of the signs that separate the words of a name.
func isSeparator(c byte) bool { return c == '_' || c == '-' || c == '.' || c == ' ' }

// fold writes a name without regard to case and to what separates its words.
func fold(name string) string { return string(appendFolded(nil, name)) }

func appendFolded(folded []byte, name string) []byte {
	for i := range len(name) {
		if !isSeparator(name[i]) {
			folded = append(folded, lower(name[i]))
		}
	}
	return folded
}
