package failure_test

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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// allowed are the files outside of this package that look at a status, a code or
// an error's type or text, each with the reason. What begins with a folder is all
// of that.
var allowed = map[string]string{
	"mcpclient/wire/":                           "reads HTTP itself, and makes of it the errors that are read here",
	"mcpclient/connect/sse.go":                  "makes a StatusError of the status that refuses an event stream",
	"mcpclient/connect/getstream.go":            "tells a stream and a redirect from a refusal, which it has read here",
	"vmcp/gateway/internal/endpoint/era.go":     "chooses the status of an answer of our own",
	"vmcp/gateway/internal/endpoint/http.go":    "says why a request of a caller cannot be read, and with which status",
	"cmd/vmcp/status.go":                        "asks a gateway how it stands, which is no MCP server",
	"cmd/vmcp/internal/config/config.go":        "says why a file cannot be read",
	"internal/lifetime/clock.go":                "is a context, and says why it ended",
	"vmcp/gateway/internal/endpoint/message.go": "tells what is no JSON from what is no message, of a caller",
	"internal/sse/sse.go":                       "asks what a writer can do",
	"cmd/vmcp/listen.go":                        "is a server of HTTP, and knows the error that means a proper end",
	"badserver/":                                "is a server, for tests",
	"conformance/":                              "are suites, for tests",
	"vmcp/gateway/bench/":                       "is a benchmark",
}

// foreign are the packages whose errors, statuses and codes are read here.
var foreign = []string{
	"github.com/mark3labs/mcp-go/mcp", "github.com/mark3labs/mcp-go/client/transport", "github.com/mcp-candor/candor/mcpclient/wire",
	"context", "crypto/tls", "encoding/json", "io/fs", "net", "net/http", "os/exec", "syscall",
}

// Whoever asks what kind of failure an error is asks package failure.
func TestNobodyElseJudgesAStatusACodeOrAText(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		if entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || name == "bin" || name == "mcpclient/failure") {
			return filepath.SkipDir
		}
		if entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		for _, judgement := range judgements(t, path, nil) {
			if reason := allowedBy(name); reason != "" {
				used[reason] = true
				continue
			}
			t.Errorf("%s:%s: ask failure.Of", name, judgement)
		}
		return err
	})
	require.NoError(t, err)
	for file := range allowed {
		assert.True(t, used[file], "%s judges nothing any more: take it from the list", file)
	}
}

func allowedBy(name string) string {
	for file := range allowed {
		if name == file || strings.HasSuffix(file, "/") && strings.HasPrefix(name, file) {
			return file
		}
	}
	return ""
}

// judgements are the places in a file where something is judged.
func judgements(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, 0)
	require.NoError(t, err)
	j := judge{imports: map[string]bool{}}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		if !slices.Contains(foreign, imported) {
			continue
		}
		name := imported[strings.LastIndex(imported, "/")+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		j.imports[name] = true
	}
	ast.Inspect(file, func(node ast.Node) bool {
		if what := j.of(node); what != "" {
			found = append(found, fmt.Sprintf("%d: %s", files.Position(node.Pos()).Line, what))
		}
		return true
	})
	return found
}

// questions are what one can ask of a text.
var questions = []string{
	"strings.Contains", "strings.HasPrefix", "strings.HasSuffix", "strings.EqualFold", "strings.Index", "strings.Cut", "strings.CutPrefix", "strings.CutSuffix",
}

// judge knows the foreign packages of a file.
type judge struct{ imports map[string]bool }

// of says what is judged at a node, if something is.
func (j judge) of(node ast.Node) string {
	switch node := node.(type) {
	case *ast.CallExpr:
		return j.call(node)
	case *ast.BinaryExpr:
		if compares(node.Op) && (j.isConstant(node.X) || j.isConstant(node.Y) || isStatus(node.X) || isStatus(node.Y)) {
			return "a status or a code is compared"
		}
	case *ast.CaseClause:
		if slices.ContainsFunc(node.List, j.isConstant) {
			return "a status or a code is told apart"
		}
	}
	return ""
}

func (j judge) call(call *ast.CallExpr) string {
	switch name := nameOf(call.Fun); {
	case (name == "errors.Is" || name == "errors.As") && len(call.Args) == 2 && j.mentions(call.Args[1]):
		return "an error is told by its value"
	case name == "errors.AsType" && j.mentions(call.Fun):
		return "an error is told by its type"
	case strings.HasPrefix(name, "mcp.Is") && j.imports["mcp"] && strings.HasSuffix(name, "Version") && !strings.HasPrefix(name, "mcp.IsValid"):
		return "an error is told by mcp-go"
	case slices.Contains(questions, name) && slices.ContainsFunc(call.Args, isErrorText):
		return "the text of an error is judged"
	}
	return ""
}

// mentions says whether something of a foreign package stands in an expression.
func (j judge) mentions(expr ast.Node) bool {
	found := false
	ast.Inspect(expr, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if from, ok := selector.X.(*ast.Ident); ok && j.imports[from.Name] {
				found = true
			}
		}
		return true
	})
	return found
}

// isConstant says whether an expression is a status of HTTP or a code of JSON-RPC.
func (j judge) isConstant(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	from, ok := selector.X.(*ast.Ident)
	if !ok || !j.imports[from.Name] {
		return false
	}
	return from.Name == "http" && strings.HasPrefix(selector.Sel.Name, "Status") ||
		from.Name == "mcp" && selector.Sel.Name == strings.ToUpper(selector.Sel.Name) && !strings.Contains(selector.Sel.Name, "VERSION") && len(selector.Sel.Name) > 4
}

func isStatus(expr ast.Expr) bool {
	selector, ok := expr.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == "StatusCode"
}

func isErrorText(expr ast.Expr) bool {
	call, ok := expr.(*ast.CallExpr)
	return ok && strings.HasSuffix(nameOf(call.Fun), ".Error") && len(call.Args) == 0
}

func compares(op token.Token) bool {
	return slices.Contains([]token.Token{token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ}, op)
}

// nameOf is how a function is called, such as "errors.Is".
func nameOf(fun ast.Expr) string {
	switch fun := fun.(type) {
	case *ast.IndexExpr:
		return nameOf(fun.X)
	case *ast.SelectorExpr:
		if from, ok := fun.X.(*ast.Ident); ok {
			return from.Name + "." + fun.Sel.Name
		}
		return "." + fun.Sel.Name
	case *ast.Ident:
		return fun.Name
	}
	return ""
}

func TestWhatIsAJudgement(t *testing.T) {
	t.Parallel()
	const head = "package x\nimport (\"context\"; \"errors\"; \"net/http\"; \"strings\"; \"github.com/mark3labs/mcp-go/mcp\"; \"github.com/mcp-candor/candor/mcpclient/wire\"; \"github.com/mcp-candor/candor/vmcp\")\nfunc f(err error, r *http.Response, code int) bool { return "
	for source, is := range map[string]bool{
		`errors.Is(err, context.Canceled)`:                                                     true,
		`errors.Is(err, mcp.ErrMethodNotFound)`:                                                true,
		`func() bool { _, ok := errors.AsType[*wire.StatusError](err); return ok }()`:          true,
		`mcp.IsUnsupportedProtocolVersion(err)`:                                                true,
		`r.StatusCode == 400`:                                                                  true,
		`code == http.StatusNotFound`:                                                          true,
		`code == mcp.METHOD_NOT_FOUND`:                                                         true,
		`func() bool { switch code { case mcp.INVALID_PARAMS: return true }; return false }()`: true,
		`strings.Contains(err.Error(), "session")`:                                             true,
		`errors.Is(err, vmcp.ErrClosed)`:                                                       false,
		`func() bool { _, ok := errors.AsType[*vmcp.UnknownError](err); return ok }()`:         false,
		`code == 5`:                       false,
		`strings.Contains(r.Status, "x")`: false,
	} {
		assert.Equal(t, is, len(judgements(t, "x.go", head+source+" }")) > 0, source)
	}
}
