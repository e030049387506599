package redact

import "strings"

// signs are, by the byte that they begin with, the signs of a secret. A sign
// gets the place of its byte, which for a letter or a digit is where a word
// begins, and returns the secret beside it, if one is there.
var signs = newSigns()

type sign func(r *Redactor, text string, i int) (span, bool)

func newSigns() [256]sign {
	var table [256]sign
	for i := range shapes {
		if shapes[i] != nil {
			table[i] = shapeAt
		}
	}
	table['b'], table['B'] = scheme, scheme
	table['-'] = dashed
	table[':'], table['='], table['%'] = afterKey, afterKey, afterKey
	return table
}

// shapeAt finds a token by its shape.
func shapeAt(_ *Redactor, text string, i int) (span, bool) {
	for _, shape := range shapes[text[i]] {
		if to, ok := shape.match(text, i); ok {
			return span{i, to}, true
		}
	}
	return span{}, false
}

// scheme finds what stands after Bearer and Basic, where it is no word.
func scheme(_ *Redactor, text string, i int) (span, bool) {
	from, ok := afterScheme(text, i)
	if !ok {
		return span{}, false
	}
	to := run(text, from, isCredential)
	value := strings.TrimRight(text[from:to], ".")
	if len(value) < 4 || isParameter(value) && to < len(text) && text[to] == '"' {
		return span{}, false // a challenge: Bearer realm="..."
	}
	return span{from, from + len(value)}, len(value) >= longestPlain || looksRandom(value)
}

// longestPlain is the length from which on a word is none of a sentence.
const longestPlain = 20

// afterScheme returns where the credentials begin.
func afterScheme(text string, i int) (int, bool) {
	for _, name := range []string{"bearer", "basic"} {
		from := i + len(name)
		if from >= len(text) || !strings.EqualFold(text[i:from], name) {
			continue
		}
		if strings.HasPrefix(text[from:], "%20") {
			return from + len("%20"), true
		}
		to := run(text, from, func(c byte) bool { return c == ' ' || c == '+' })
		return to, to > from
	}
	return 0, false
}

// isParameter is true of name=.
func isParameter(text string) bool {
	return run(text, 0, func(c byte) bool { return isLower(c) || c == '_' }) == len(text)-1 && text[len(text)-1] == '='
}

// dashed finds a private key in PEM, and what stands after a flag such as --token.
func dashed(r *Redactor, text string, i int) (span, bool) {
	if !isBoundary(text, i) || i > 0 && text[i-1] == '-' {
		return span{}, false
	}
	if strings.HasPrefix(text[i:], "-----BEGIN ") {
		return pem(text, i)
	}
	from := run(text, i, func(c byte) bool { return c == '-' })
	to := run(text, from, isKey)
	if from-i > 2 || to == from || to == len(text) || text[to] == '=' || text[to] == ':' {
		return span{}, false
	}
	return argument(text, to, r.kindOf(text[from:to]))
}

// argument finds what follows a flag of that kind.
func argument(text string, from int, kind kind) (span, bool) {
	if kind == harmless || kind == several {
		return span{}, false
	}
	start := run(text, from, func(c byte) bool { return isSpace(c) || isQuote(c) || c == ',' || c == '\\' })
	end := run(text, start, func(c byte) bool { return c > ' ' && !isQuote(c) && c != '\\' })
	value := text[start:end]
	if value == "" || value[0] == '-' || isMasked(value) {
		return span{}, false
	}
	return span{start, end}, kind != weak || len(value) >= longestPlain || looksRandom(value)
}

// pem finds a private key, to its end or to the end of a text that was cut off.
func pem(text string, i int) (span, bool) {
	const dashes = "-----"
	label, rest, ok := strings.Cut(text[i+len(dashes):], dashes)
	if !ok || len(label) > longestKey || !strings.Contains(label, "PRIVATE KEY") {
		return span{}, false
	}
	end := strings.Index(rest, "-----END ")
	if end < 0 {
		return span{i, len(text)}, true
	}
	tail := rest[end+len(dashes):]
	if last := strings.Index(tail, dashes); last >= 0 {
		return span{i, len(text) - len(tail) + last + len(dashes)}, true
	}
	return span{i, len(text)}, true
}

// isMasked says whether somebody has masked it before, or has only said where it
// comes from.
func isMasked(value string) bool {
	return strings.Trim(value, "*") == "" || value == "REDACTED" || value == "xxxxx" || value == "[REDACTED]" || hasVariable(value)
}

// hasVariable is true of a text with a variable in it, such as ${TOKEN}.
func hasVariable(value string) bool {
	at := strings.Index(value, "${") + len("${")
	return at >= len("${") && at < len(value) && (isUpper(value[at]) || value[at] == '_')
}
