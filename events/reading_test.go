package events_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcp-candor/candor/events"
	"github.com/stretchr/testify/require"
)

// written is a record as the code writes it.
type written struct {
	in     string   // the folder
	events []string // that it may be
	level  string   // empty where it varies
	keys   []string // besides events.KeyEvent
}

// code is what was read of one package.
type code struct {
	folder string
	set    *token.FileSet
	dictionary
	words  string                // under which name the file at hand imports package events
	states []string              // the constants of a type State
	fields map[string][]ast.Expr // what is assigned to a field, by its name
	bound  map[string][]string   // the keys that a logger brings, by the name of its variable or field

	records []written
	wrong   []string
}

// dictionary are the constants of package events by their names.
type dictionary map[string]string

// readModule reads the code under a folder, tests and package events aside. What
// is wrong are keys and names that are no constants of package events.
func readModule(t *testing.T, folder string) (records []written, wrong []string) {
	t.Helper()
	set, words := token.NewFileSet(), readDictionary(t)
	packages := map[string][]*ast.File{}
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		in, _ := filepath.Rel(folder, filepath.Dir(path))
		packages[filepath.ToSlash(in)] = append(packages[filepath.ToSlash(in)], file)
		return err
	}))
	delete(packages, "events")
	for in, files := range packages {
		c := &code{folder: in, set: set, dictionary: words, fields: map[string][]ast.Expr{}, bound: map[string][]string{}}
		c.read(files)
		records, wrong = append(records, c.records...), append(wrong, c.wrong...)
	}
	slices.SortFunc(records, func(a, b written) int { return strings.Compare(a.in, b.in) })
	return records, wrong
}

func readDictionary(t *testing.T) dictionary {
	t.Helper()
	words := dictionary{}
	for _, path := range []string{"keys.go", "events.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == len(spec.Names) {
				for i, name := range spec.Names {
					if text, ok := literal(spec.Values[i]); ok {
						words[name.Name] = text
					}
				}
			}
			return true
		})
	}
	return words
}

func (c *code) read(files []*ast.File) {
	for _, look := range []func(ast.Node){c.collect, c.collectBound(files), nil} {
		for _, file := range files {
			c.words = importOf(file)
			if look == nil {
				c.readFile(file)
				continue
			}
			ast.Inspect(file, func(node ast.Node) bool { look(node); return true })
		}
	}
}

// importOf is the name under which a file imports package events; empty if it
// does not.
func importOf(file *ast.File) string {
	for _, spec := range file.Imports {
		if spec.Path.Value != `"github.com/mcp-candor/candor/events"` {
			continue
		}
		if spec.Name != nil {
			return spec.Name.Name
		}
		return "events"
	}
	return ""
}

// collect takes down the constants of states, and what is assigned to fields.
func (c *code) collect(node ast.Node) {
	switch n := node.(type) {
	case *ast.ValueSpec:
		if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "State" && len(n.Values) == 1 {
			if text, ok := literal(n.Values[0]); ok {
				c.states = append(c.states, text)
			}
		}
	case *ast.KeyValueExpr:
		if field, ok := n.Key.(*ast.Ident); ok {
			c.fields[field.Name] = append(c.fields[field.Name], n.Value)
		}
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			if field, ok := left.(*ast.SelectorExpr); ok && len(n.Rhs) == len(n.Lhs) {
				c.fields[field.Sel.Name] = append(c.fields[field.Sel.Name], n.Rhs[i])
			}
		}
	}
}

// collectBound takes down loggers that bring keys: where X.With(key, value) is
// assigned to a field, or handed to a function of the package.
func (c *code) collectBound(files []*ast.File) func(ast.Node) {
	parameters := parametersOf(files)
	return func(node ast.Node) {
		switch n := node.(type) {
		case *ast.KeyValueExpr:
			c.bind(exprName(n.Key), n.Value)
		case *ast.CallExpr:
			names := parameters[exprName(n.Fun)]
			for i := range min(len(names), len(n.Args)) {
				c.bind(names[i], n.Args[i])
			}
		}
	}
}

func (c *code) bind(name string, value ast.Expr) {
	if call, ok := value.(*ast.CallExpr); ok && methodOf(call) == "With" {
		c.bound[name] = append(c.bound[name], c.keysIn(call.Args)...)
	}
}

// parametersOf are the names of the parameters of each function of a package.
func parametersOf(files []*ast.File) map[string][]string {
	names := map[string][]string{}
	for _, file := range files {
		for _, declaration := range file.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || f.Recv != nil {
				continue
			}
			for _, group := range f.Type.Params.List {
				for _, name := range group.Names {
					names[f.Name.Name] = append(names[f.Name.Name], name.Name)
				}
			}
		}
	}
	return names
}

// readFile finds each record with an event in a file.
func (c *code) readFile(file *ast.File) {
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		ast.Inspect(f.Body, func(node ast.Node) bool {
			switch n := node.(type) {
			case *ast.CallExpr:
				c.checkKeys(n)
				if name := c.eventIn(n.Args); name != nil && !isAttr(n) {
					c.record(f, name, levelOf(n), append(c.keysIn(n.Args), c.bound[loggerOf(n)]...))
				}
			case *ast.CompositeLit:
				if name := c.eventIn(n.Elts); name != nil {
					c.record(f, name, "", append(c.keysIn(n.Elts), c.appendedTo(n, f)...))
				}
			}
			return true
		})
	}
}

func (c *code) record(f *ast.FuncDecl, name ast.Expr, level string, keys []string) {
	names := c.namesOf(name, f)
	if len(names) == 0 {
		c.fault(name, "the event is no constant of package events")
	}
	c.records = append(c.records, written{in: c.folder, events: names, level: level, keys: keys})
}

func (c *code) fault(at ast.Node, what string) {
	position := c.set.Position(at.Pos())
	c.wrong = append(c.wrong, fmt.Sprintf("%s/%s:%d: %s", c.folder, filepath.Base(position.Filename), position.Line, what))
}

// checkKeys wants each key of a record to be a constant.
func (c *code) checkKeys(call *ast.CallExpr) {
	for _, key := range keyPositions(call) {
		if text, ok := literal(key); ok {
			c.fault(key, fmt.Sprintf("the key %q is no constant of package events", text))
		}
	}
}

// keyPositions are the arguments of a call that are keys, as far as they are
// pairs or the call makes one attribute.
func keyPositions(call *ast.CallExpr) []ast.Expr {
	method, first := methodOf(call), 0
	switch {
	case isAttr(call):
		return call.Args[:1]
	case method == "With" && len(call.Args) > 1:
	case slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, method) && !strings.HasPrefix(exprName(call.Fun), "http."):
		first = 1
	case slices.Contains([]string{"DebugContext", "InfoContext", "WarnContext", "ErrorContext"}, method):
		first = 2
	default:
		return nil
	}
	var keys []ast.Expr
	for i := first; i+1 < len(call.Args); i += 2 {
		if isAttr(call.Args[i]) {
			i--
			continue
		}
		keys = append(keys, call.Args[i])
	}
	return keys
}

// eventIn is the value beside events.KeyEvent, if it is there.
func (c *code) eventIn(arguments []ast.Expr) ast.Expr {
	var found ast.Expr
	c.pairs(arguments, func(key string, value ast.Expr) {
		if key == events.KeyEvent {
			found = value
		}
	})
	return found
}

// keysIn are the other keys.
func (c *code) keysIn(arguments []ast.Expr) []string {
	var keys []string
	c.pairs(arguments, func(key string, _ ast.Expr) {
		if key != events.KeyEvent {
			keys = append(keys, key)
		}
	})
	return keys
}

// pairs calls f for each key and value, written side by side or as slog's
// attributes.
func (c *code) pairs(arguments []ast.Expr, f func(key string, value ast.Expr)) {
	for i := 0; i < len(arguments); i++ {
		if isAttr(arguments[i]) {
			attr := arguments[i].(*ast.CallExpr)
			if key, ok := c.constant(attr.Args[0]); ok {
				f(key, attr.Args[1])
			}
		} else if key, ok := c.constant(arguments[i]); ok && i+1 < len(arguments) && strings.HasPrefix(arguments[i].(*ast.SelectorExpr).Sel.Name, "Key") {
			f(key, arguments[i+1])
			i++
		}
	}
}

// appendedTo are the keys that a function appends to the variable of a list.
func (c *code) appendedTo(list *ast.CompositeLit, f *ast.FuncDecl) []string {
	variable := ""
	var keys []string
	ast.Inspect(f.Body, func(node ast.Node) bool {
		if assigned, ok := node.(*ast.AssignStmt); ok && len(assigned.Rhs) == 1 && assigned.Rhs[0] == list {
			variable = exprName(assigned.Lhs[0])
		}
		if call, ok := node.(*ast.CallExpr); ok && exprName(call.Fun) == "append" && variable != "" && exprName(call.Args[0]) == variable {
			keys = append(keys, c.keysIn(call.Args[1:])...)
		}
		return true
	})
	return keys
}

// namesOf are the events that an expression can stand for; none where that
// cannot be read.
func (c *code) namesOf(expression ast.Expr, f *ast.FuncDecl) []string {
	if name, ok := c.constant(expression); ok {
		return []string{name}
	}
	if call, ok := expression.(*ast.CallExpr); ok && c.words != "" && exprName(call.Fun) == c.words+".Backend" {
		return c.statesOf(call.Args[0], f)
	}
	var names []string
	if field, ok := expression.(*ast.SelectorExpr); ok {
		for _, value := range c.fields[field.Sel.Name] {
			name, ok := c.constant(value)
			if !ok {
				return nil
			}
			names = append(names, name)
		}
	}
	return names
}

// statesOf are the events of backends that a variable of a function can stand
// for: string(X.State) for each constant of the type State.
func (c *code) statesOf(variable ast.Expr, f *ast.FuncDecl) []string {
	var names []string
	ast.Inspect(f.Body, func(node ast.Node) bool {
		assigned, ok := node.(*ast.AssignStmt)
		if !ok || len(assigned.Lhs) != len(assigned.Rhs) {
			return true
		}
		for i, left := range assigned.Lhs {
			if exprName(left) != exprName(variable) {
				continue
			}
			if text, ok := literal(assigned.Rhs[i]); ok {
				names = append(names, events.Backend(text))
			} else if call, ok := assigned.Rhs[i].(*ast.CallExpr); ok && exprName(call.Fun) == "string" && strings.HasSuffix(exprName(call.Args[0]), ".State") {
				for _, state := range c.states {
					names = append(names, events.Backend(state))
				}
			}
		}
		return true
	})
	return names
}

// constant is the value of a constant of package events.
func (c *code) constant(expression ast.Expr) (string, bool) {
	selector, ok := expression.(*ast.SelectorExpr)
	if !ok || c.words == "" || exprName(selector.X) != c.words {
		return "", false
	}
	text, ok := c.dictionary[selector.Sel.Name]
	return text, ok
}

// isAttr says whether an expression is one of slog's attributes.
func isAttr(expression ast.Expr) bool {
	call, ok := expression.(*ast.CallExpr)
	return ok && len(call.Args) == 2 && strings.HasPrefix(exprName(call.Fun), "slog.")
}

// levelOf is the level that a call to a logger says; empty where it varies.
func levelOf(call *ast.CallExpr) string {
	for _, argument := range call.Args {
		if level, ok := strings.CutPrefix(exprName(argument), "slog.Level"); ok {
			return strings.ToUpper(level)
		}
	}
	level := strings.ToUpper(strings.TrimSuffix(methodOf(call), "Context"))
	if slices.Contains([]string{"DEBUG", "INFO", "WARN", "ERROR"}, level) {
		return level
	}
	return ""
}

// loggerOf is the last name of what a method is called on.
func loggerOf(call *ast.CallExpr) string {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	name := exprName(method.X)
	return name[strings.LastIndex(name, ".")+1:]
}

func methodOf(call *ast.CallExpr) string {
	if method, ok := call.Fun.(*ast.SelectorExpr); ok {
		return method.Sel.Name
	}
	return ""
}

// exprName is an identifier or a.b.c; empty for anything else.
func exprName(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := exprName(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	}
	return ""
}

func literal(expression ast.Expr) (string, bool) {
	basic, ok := expression.(*ast.BasicLit)
	if !ok || basic.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(basic.Value)
	return text, err == nil
}
