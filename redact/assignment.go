package redact

import "strings"

// afterKey finds the value of a key that says that it is a secret: key=value,
// "key": "value", Header: value, ?key=value, key%3Dvalue. It finds the user and
// password of a URL as well, which also stand after a ":".
func afterKey(r *Redactor, text string, i int) (span, bool) {
	separator := 1
	switch {
	case text[i] == ':' && strings.HasPrefix(text[i:], "://"):
		return userinfo(text, i+len("://"))
	case text[i] == '%':
		if !strings.HasPrefix(text[i:], "%3D") && !strings.HasPrefix(text[i:], "%3d") {
			return span{}, false
		}
		separator = len("%3D")
	}
	key, query := keyBefore(text, i)
	kind := r.kindOf(key)
	if query {
		kind = r.kindInQuery(key)
	}
	if kind == harmless {
		return span{}, false
	}
	v := assigned{text: text, kind: kind, from: i + separator, colon: text[i] == ':'}
	return v.span()
}

// userinfo finds what stands before the host of a URL.
func userinfo(text string, from int) (span, bool) {
	end := run(text, from, func(c byte) bool {
		return c > ' ' && c != '/' && c != '?' && c != '#' && !isQuote(c) && c != '<' && c != '>' && c != '\\'
	})
	at := strings.LastIndexByte(text[from:end], '@')
	if at <= 0 || isMasked(text[from:from+at]) {
		return span{}, false
	}
	return span{from, from + at}, true
}

// keyBefore returns the key that ends before a separator, without its quotes,
// and whether it is a parameter of a URL's query.
func keyBefore(text string, i int) (key string, query bool) {
	to := backwards(text, backwards(text, i, isSpace), func(c byte) bool { return isQuote(c) || c == '\\' || c == ']' })
	from := backwards(text[:to], to, isKey)
	key = text[from:to]
	if from == 0 || key == "" || len(key) > longestKey {
		return key, false
	}
	switch text[from-1] {
	case '?', '&', '#':
		return key, true
	case ';':
		return key, strings.HasSuffix(text[:from], "&amp;")
	case '\\':
		return unescaped(key)
	case '%':
		return unpercented(key)
	default:
		return key, false
	}
}

// backwards returns where what ends before i and consists of such bytes begins,
// or a place where it is too long for a key.
func backwards(text string, i int, of func(byte) bool) int {
	for end := i; i > 0 && end-i <= longestKey && of(text[i-1]); {
		i--
	}
	return i
}

// unescaped takes off what belongs to an escape in JSON: \n, \u0026.
func unescaped(key string) (string, bool) {
	if len(key) > 5 && key[0] == 'u' {
		escape := key[1:5]
		return key[5:], escape == "0026" || strings.EqualFold(escape, "003f")
	}
	if strings.IndexByte("nrt", key[0]) >= 0 {
		return key[1:], false
	}
	return key, false
}

// unpercented takes off what belongs to an escape in a URL: %3F, %26, %253F.
func unpercented(key string) (string, bool) {
	for strings.HasPrefix(key, "25") {
		key = key[2:]
	}
	if len(key) <= 2 {
		return "", false
	}
	escape := key[:2]
	return key[2:], escape == "26" || strings.EqualFold(escape, "3f") || escape == "23"
}

// assigned is what stands after a key.
type assigned struct {
	text  string
	kind  kind
	from  int
	colon bool
}

func (v assigned) span() (span, bool) {
	after := run(v.text, v.from, func(c byte) bool { return c == '=' || c == '>' })
	start := run(v.text, after, isSpace)
	spaced := start > after
	if start == len(v.text) {
		return span{}, false
	}
	if open := v.text[start]; open == '[' || open == '{' || v.kind == several {
		return v.bracketed(start)
	}
	backslashes := run(v.text, start, func(c byte) bool { return c == '\\' }) - start
	if at := start + backslashes; at < len(v.text) && isQuote(v.text[at]) {
		return v.quoted(at+1, v.text[start:at+1])
	}
	return v.bare(start, spaced)
}

// bracketed is a list of values or an object, to its end.
func (v assigned) bracketed(start int) (span, bool) {
	open := v.text[start]
	end := byte(']')
	switch open {
	case '[':
	case '{':
		end = '}'
	default: // of several, such as env in map[env:map[A:b]]
		if !strings.HasPrefix(v.text[start:], "map[") {
			return span{}, false
		}
		start, open = start+len("map"), '['
	}
	depth := 0
	for i := start; i < len(v.text); i++ {
		switch v.text[i] {
		case open:
			depth++
		case end:
			depth--
		}
		if depth == 0 {
			return span{start + 1, i}, i > start+1 && !isMasked(strings.Trim(v.text[start+1:i], `"\`))
		}
	}
	return span{start + 1, len(v.text)}, start+1 < len(v.text)
}

// quoted ends where the same quote stands again, escaped as often.
func (v assigned) quoted(from int, quote string) (span, bool) {
	to := from
	for {
		next := strings.Index(v.text[to:], quote)
		if next < 0 {
			to = len(v.text) // it was cut off
			break
		}
		to += next
		if len(quote) > 1 || !isEscaped(v.text, to) {
			break
		}
		to++
	}
	if value := v.text[from:to]; value == "" || isMasked(value) {
		return span{}, false
	}
	return span{from, to}, true
}

func isEscaped(text string, i int) bool {
	backslashes := 0
	for i > 0 && text[i-1] == '\\' {
		backslashes++
		i--
	}
	return backslashes%2 == 1
}

// bare ends with the line for a header, else with the word.
func (v assigned) bare(from int, spaced bool) (span, bool) {
	ends := endsWord
	if v.kind == whole {
		ends = endsLine
	}
	to := from
	for to < len(v.text) && !ends(v.text, to) {
		to++
	}
	value := strings.TrimRight(v.text[from:to], " \t.")
	if value == "" || isMasked(value) || isNothing(value) {
		return span{}, false
	}
	if v.kind == weak && v.colon && spaced && !looksRandom(value) {
		return span{}, false // more of a sentence
	}
	return span{from, from + len(value)}, true
}

func endsLine(text string, i int) bool {
	c := text[i]
	return c == '\n' || c == '\r' || isQuote(c) || c == '\\' && i+1 < len(text) && strings.IndexByte(`nr"`, text[i+1]) >= 0
}

func endsWord(text string, i int) bool {
	switch c := text[i]; c {
	case ' ', '\t', '\n', '\r', '"', '\'', '`', '&', ',', ';', ')', ']', '}', '<', '>', '#':
		return true
	case '\\':
		return i+1 < len(text) && strings.IndexByte(`nrtu"`, text[i+1]) >= 0
	case '%':
		return strings.HasPrefix(text[i:], "%26")
	default:
		return false
	}
}

// isNothing says that there is no value.
func isNothing(value string) bool {
	switch value {
	case "null", "nil", "<nil>", "true", "false", "none", "None", "undefined":
		return true
	default:
		return false
	}
}
