package middleware

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"go.opentelemetry.io/otel/metric"
)

// Tolerance forgives the one contradiction that the package comment
// describes, and no other failure. The first time that a client meets a
// contradiction of one method it logs a WARN with the event name
// [events.Contradiction] or [events.MalformedList]; repeats are DEBUG. Every one is
// counted in candor.contradictions or candor.malformed_lists.
//
// It judges pages: put [Pages] outside it. Without Pages, a call for a whole
// list that fails with -32601 costs one more request, for the first page,
// which tells a method that is missing from a later page that failed.
//
// Over an HTTP transport of mcp-go that has no package wire beneath it the rule
// cannot hold. A WARN with the event name "wire_missing" says so, once for each
// client, and how to mend it.
//
// A nil logger discards; a nil provider means OpenTelemetry's global one.
func Tolerance(logger *slog.Logger, provider metric.MeterProvider, opts ...Option) mcpclient.Middleware {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	o := apply(opts)
	counter := instrument.NewContradictions(o.measuring(provider))
	return func(next mcpclient.Handler) mcpclient.Handler {
		beneath := &unwired{logger: logger, next: next}
		t := &tolerance{options: o, logger: logger, counter: counter, next: beneath.handle}
		return t.handle
	}
}

// tolerance is the rule for one client.
type tolerance struct {
	options
	logger  *slog.Logger
	counter *instrument.Contradictions
	next    mcpclient.Handler
	warned  sync.Map // of warning
}

// warning is what is said aloud only once for each client.
type warning struct {
	event  string
	method mcp.MCPMethod
}

func (t *tolerance) handle(ctx context.Context, call mcpclient.Call) (any, error) {
	result, err := t.next(ctx, call)
	if err != nil {
		return t.failed(ctx, call, err)
	}
	list, ok := call.List()
	if !ok {
		return result, nil
	}
	if err := list.Check(result); err != nil {
		return nil, err
	}
	if _, ok := list.Len(result); ok {
		return result, nil
	}
	return t.malformed(ctx, call, list, result, ErrMalformedList)
}

// failed forgives what the table says.
func (t *tolerance) failed(ctx context.Context, call mcpclient.Call, err error) (any, error) {
	list, isList := call.List()
	switch {
	case judged(err):
		return nil, err
	case isList && errors.Is(err, ErrMalformedList): // what the transport saw
		return t.malformed(ctx, call, list, nil, err)
	case !failure.IsMethodNotFound(err) || !promised(call):
		return nil, err
	case isList:
		return t.missingList(ctx, call, list, err)
	default:
		return t.missingUtility(ctx, call, err)
	}
}

// promised says whether the server of a call is known to have advertised what the
// method belongs to.
func promised(call mcpclient.Call) bool {
	method, _ := capability.Of(call.Method)
	server, known := call.Server()
	return known && method.Promised(server.Capabilities)
}

// judged says whether a middleware further inside, of this chain or of a
// client that is wrapped twice, has put the error in its place already.
func judged(err error) bool {
	var contradiction *ContradictionError
	var partial *PartialListError
	return errors.As(err, &contradiction) || errors.As(err, &partial)
}

func (t *tolerance) missingList(ctx context.Context, call mcpclient.Call, list mcpclient.List, err error) (any, error) {
	if list.Cursor(call.Request) != "" {
		return nil, err
	}
	if call.Op != list.PageOp() {
		if received, first := t.firstPage(ctx, call, list); first == nil {
			count, _ := list.Len(received)
			return nil, &PartialListError{Method: call.Method, Received: received, Pages: 1, Items: count, Err: err}
		} else if !failure.IsMethodNotFound(first) {
			return nil, errors.Join(err, first)
		}
	}
	contradiction := contradictionOf(call, err, t.Mask)
	t.report(ctx, contradiction)
	if t.unforgivable(call.Method) {
		return nil, &ContradictionError{Contradiction: contradiction, Err: err}
	}
	return list.OrEmpty(nil), nil
}

// firstPage asks for the first page of a list whose walk, inside mcp-go,
// failed on a page that is not known.
func (t *tolerance) firstPage(ctx context.Context, call mcpclient.Call, list mcpclient.List) (any, error) {
	call.Op = list.PageOp()
	page, err := t.next(ctx, call)
	if err != nil {
		return nil, err
	}
	return page, list.Check(page)
}

func (t *tolerance) missingUtility(ctx context.Context, call mcpclient.Call, err error) (any, error) {
	if !t.utilities || t.strict[call.Method] {
		return nil, err
	}
	if method, _ := capability.Of(call.Method); method.Missing != capability.Utility {
		return nil, err
	}
	t.report(ctx, contradictionOf(call, err, t.Mask))
	if call.Method == mcp.MethodCompletionComplete {
		return &mcp.CompleteResult{Completion: mcp.Completion{Values: []string{}}}, nil
	}
	return nil, nil
}

func (t *tolerance) malformed(ctx context.Context, call mcpclient.Call, list mcpclient.List, result any, err error) (any, error) {
	contradiction := contradictionOf(call, err, t.Mask)
	t.report(ctx, contradiction)
	if t.unforgivable(call.Method) {
		return nil, &ContradictionError{Contradiction: contradiction, Err: err}
	}
	return list.OrEmpty(result), nil
}

// unforgivable says whether a contradiction about a list is an error.
func (t *tolerance) unforgivable(method mcp.MCPMethod) bool {
	row, _ := capability.Of(method)
	return row.Missing != capability.Forgiven || t.strict[method]
}

// report tells of a contradiction; aloud once for each client and method.
func (t *tolerance) report(ctx context.Context, contradiction Contradiction) {
	t.count(ctx, contradiction)
	level := slog.LevelWarn
	if _, again := t.warned.LoadOrStore(warning{contradiction.Event, contradiction.Method}, nil); again {
		level = slog.LevelDebug
	}
	t.onContradiction(ctx, contradiction)
	t.logger.LogAttrs(ctx, level, "the server "+contradiction.String(), append(contradiction.attrs(), spanFields(ctx)...)...)
}

func (t *tolerance) count(ctx context.Context, found Contradiction) {
	if found.Event == events.MalformedList {
		t.counter.Malformed(ctx, found.Capability, found.Method)
		return
	}
	t.counter.Missing(ctx, found.Capability, found.Method)
}
