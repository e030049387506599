package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sort"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// maxConfigDepth is how deep objects and arrays may lie in each other. The parser recurses, and a
// stack that overflows cannot be recovered from. Real files have a depth of four or five.
const maxConfigDepth = 64

const whitespace = " \t\r\n"

// document is the syntax tree of a configuration file, and the way from an offset to a line.
type document struct {
	file  string
	root  hujson.Value
	lines []int // offset of the first byte of each line
	end   int   // offset behind the last byte that is no white space
}

// parseDocument accepts comments, trailing commas and a byte order mark.
func parseDocument(file string, data []byte) (*document, *Error) {
	if problem := undecodable(file, data); problem != nil {
		return nil, problem
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	d := newDocument(file, data)
	if at := firstInvalid(data); at >= 0 {
		return nil, d.problem(at, "not UTF-8", "Save the file as UTF-8.")
	}
	if at := tooDeep(data); at >= 0 {
		return nil, d.problem(at, fmt.Sprintf("more than %d objects and arrays in each other", maxConfigDepth),
			"Look for a brace or a bracket that is not closed.")
	}
	// The line feed is for a comment at the end of the file, which the parser wants to see ended.
	root, err := hujson.Parse(append(bytes.Clone(data), '\n'))
	if err != nil {
		return nil, d.syntaxProblem(data, err)
	}
	d.root = root
	return d, nil
}

// undecodable are the files in which there are no lines to point at.
func undecodable(file string, data []byte) *Error {
	switch {
	case len(data) > maxSize:
		return &Error{File: file, Problem: "more than 1 MiB", Remedy: "Is this the right file?"}
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return &Error{File: file, Problem: "UTF-16", Remedy: "Save the file as UTF-8."}
	}
	return nil
}

func newDocument(file string, data []byte) *document {
	d := &document{file: file, lines: []int{0}, end: len(bytes.TrimRight(data, whitespace))}
	for i, b := range data {
		if b == '\n' {
			d.lines = append(d.lines, i+1)
		}
	}
	return d
}

// position counts from 1, columns in bytes. What lies behind the last value is its end.
func (d *document) position(offset int) (line, column int) {
	offset = min(offset, d.end)
	line = sort.Search(len(d.lines), func(i int) bool { return d.lines[i] > offset })
	return line, offset - d.lines[line-1] + 1
}

func (d *document) problem(offset int, problem, remedy string) *Error {
	line, column := d.position(offset)
	return &Error{File: d.file, Line: line, Column: column, Problem: problem, Remedy: remedy}
}

// syntaxProblem takes the position from the parser's error, and nothing else: the rest of its text
// quotes the file.
func (d *document) syntaxProblem(data []byte, err error) *Error {
	var line, column int
	if _, scan := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &line, &column); scan != nil {
		line, column = 1, 1
	}
	at := d.end
	if line <= len(d.lines) {
		at = d.lines[line-1] + column - 1
	}
	switch {
	case d.end == 0:
		return d.problem(at, "the file is empty", "Write your servers into it, for example "+example+".")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return d.problem(at, "not valid JSON: the file ends too early", "Close every quote, brace and bracket.")
	case badString(data[min(at, len(data)):]):
		return d.problem(at, "not a valid JSON string",
			`Close its quote on the same line, and write a backslash as "\\".`)
	}
	return d.problem(at, "not valid JSON", "Look for a comma, a quote or a brace that is missing here or on the line before.")
}

// badString says whether data starts with a string that is none in JSON.
func badString(data []byte) bool {
	return bytes.HasPrefix(data, []byte{'"'}) && !hujson.Literal(data[:stringLength(data)]).IsValid()
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// tooDeep is the offset at which data goes deeper than maxConfigDepth, or -1.
func tooDeep(data []byte) int {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i += stringLength(data[i:]) - 1
		case '/':
			i += commentLength(data[i:]) - 1
		case '{', '[':
			if depth++; depth > maxConfigDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// stringLength is the length of the string that data starts with, quotes included.
func stringLength(data []byte) int {
	for i := 1; i < len(data); i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(data)
}

// commentLength is the length of the comment that data starts with; 1 for a slash that starts none.
func commentLength(data []byte) int {
	var end string
	switch {
	case bytes.HasPrefix(data, []byte("//")):
		end = "\n"
	case bytes.HasPrefix(data, []byte("/*")):
		end = "*/"
	default:
		return 1
	}
	if i := bytes.Index(data[2:], []byte(end)); i >= 0 {
		return 2 + i + len(end)
	}
	return len(data)
}
