package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Error is one thing that is wrong with a configuration file, and what to do about it.
type Error struct {
	File    string // as it was named to Read
	Line    int    // from 1; 0 when the file could not be read
	Column  int    // from 1, in bytes; part of the text only where there is no Key
	Key     string // such as mcpServers.github.args[1]; empty for the file as a whole
	Problem string
	Remedy  string
}

// Error is a single line: file, line, key, problem, remedy.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(printableFile(e.File))
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	if e.Line > 0 && e.Key == "" {
		fmt.Fprintf(&b, ":%d", e.Column)
	}
	if e.Key != "" {
		b.WriteString(": " + e.Key)
	}
	b.WriteString(": " + e.Problem)
	if e.Remedy != "" {
		b.WriteString(". " + e.Remedy)
	}
	return b.String()
}

// joinInOrder keeps problems of one place in the order in which they were found.
func joinInOrder(problems []*Error) error {
	slices.SortStableFunc(problems, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p
	}
	return errors.Join(errs...)
}

func printableFile(file string) string {
	if strings.ContainsAny(file, "\r\n") {
		return strconv.Quote(file)
	}
	return file
}
