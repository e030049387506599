package middleware_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// written is an event as the code writes it.
type written struct{ name, level, message, in string }

// writtenEvents finds each record with an "event" in the code of the module.
func writtenEvents(t *testing.T) []written {
	t.Helper()
	files, constants := map[string]*ast.File{}, map[string]string{}
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		files[path] = file
		collectConstants(file, constants)
		return nil
	}))
	var found []written
	for path, file := range files {
		ast.Inspect(file, func(node ast.Node) bool {
			if call, ok := node.(*ast.CallExpr); ok {
				if event, ok := eventOf(call, constants); ok {
					event.in = strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
					found = append(found, event)
				}
			}
			return true
		})
	}
	slices.SortFunc(found, func(a, b written) int {
		return strings.Compare(a.in+a.name+a.message, b.in+b.name+b.message)
	})
	return slices.Compact(found)
}

// collectConstants takes down the strings that constants stand for.
func collectConstants(file *ast.File, into map[string]string) {
	for _, declaration := range file.Decls {
		group, ok := declaration.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			values, ok := spec.(*ast.ValueSpec)
			if !ok || len(values.Values) != len(values.Names) {
				continue
			}
			for i, name := range values.Names {
				if text, ok := textOf(values.Values[i], nil); ok {
					into[name.Name] = text
				}
			}
		}
	}
}

// eventOf says which event a call to a logger writes, if it is one.
func eventOf(call *ast.CallExpr, constants map[string]string) (written, bool) {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return written{}, false
	}
	level := strings.ToUpper(strings.TrimSuffix(method.Sel.Name, "Context"))
	if !slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR", "LOGATTRS"}, level) {
		return written{}, false
	}
	event := written{level: level}
	for i, argument := range call.Args {
		if text, ok := textOf(argument, constants); ok && event.message == "" && strings.Contains(text, " ") {
			event.message = text
		}
		if text, ok := textOf(argument, constants); ok && text == "event" && i+1 < len(call.Args) {
			event.name, _ = textOf(call.Args[i+1], constants)
		}
		if name, ok := attrOf(argument, constants); ok {
			event.name = name
		}
		if selector, ok := argument.(*ast.SelectorExpr); ok && level == "LOGATTRS" && strings.HasPrefix(selector.Sel.Name, "Level") {
			event.level = strings.ToUpper(strings.TrimPrefix(selector.Sel.Name, "Level"))
		}
	}
	if event.level == "LOGATTRS" {
		event.level = "varies"
	}
	return event, event.name != ""
}

// attrOf is X of slog.String("event", X).
func attrOf(argument ast.Expr, constants map[string]string) (string, bool) {
	call, ok := argument.(*ast.CallExpr)
	if !ok || len(call.Args) != 2 {
		return "", false
	}
	if key, _ := textOf(call.Args[0], constants); key != "event" {
		return "", false
	}
	return textOf(call.Args[1], constants)
}

func textOf(expression ast.Expr, constants map[string]string) (string, bool) {
	switch e := expression.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, ok := constants[e.Name]
		return text, ok
	case *ast.SelectorExpr:
		text, ok := constants[e.Sel.Name]
		return text, ok
	default:
		return "", false
	}
}
