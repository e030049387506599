package mcpclient

import (
	"context"
	"reflect"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// An operation is a row of the table below: one method of client.MCPClient,
// its name on the wire, and how the end of the chain calls it.
type operation struct {
	name   string
	method mcp.MCPMethod
	invoke func(ctx context.Context, inner client.MCPClient, request any) (any, error)
}

// operations is the table, by name: the end of every chain.
var operations = map[string]*operation{}

var (
	initialize                  = define("Initialize", mcp.MethodInitialize, client.MCPClient.Initialize)
	ping                        = defineBare("Ping", mcp.MethodPing, client.MCPClient.Ping)
	listResourcesByPage         = define("ListResourcesByPage", mcp.MethodResourcesList, client.MCPClient.ListResourcesByPage)
	listResources               = define("ListResources", mcp.MethodResourcesList, client.MCPClient.ListResources)
	listResourceTemplatesByPage = define("ListResourceTemplatesByPage", mcp.MethodResourcesTemplatesList, client.MCPClient.ListResourceTemplatesByPage)
	listResourceTemplates       = define("ListResourceTemplates", mcp.MethodResourcesTemplatesList, client.MCPClient.ListResourceTemplates)
	readResource                = define("ReadResource", mcp.MethodResourcesRead, client.MCPClient.ReadResource)
	subscribe                   = defineSilent("Subscribe", mcp.MethodResourcesSubscribe, client.MCPClient.Subscribe)
	unsubscribe                 = defineSilent("Unsubscribe", mcp.MethodResourcesUnsubscribe, client.MCPClient.Unsubscribe)
	listPromptsByPage           = define("ListPromptsByPage", mcp.MethodPromptsList, client.MCPClient.ListPromptsByPage)
	listPrompts                 = define("ListPrompts", mcp.MethodPromptsList, client.MCPClient.ListPrompts)
	getPrompt                   = define("GetPrompt", mcp.MethodPromptsGet, client.MCPClient.GetPrompt)
	listToolsByPage             = define("ListToolsByPage", mcp.MethodToolsList, client.MCPClient.ListToolsByPage)
	listTools                   = define("ListTools", mcp.MethodToolsList, client.MCPClient.ListTools)
	callTool                    = define("CallTool", mcp.MethodToolsCall, client.MCPClient.CallTool)
	setLevel                    = defineSilent("SetLevel", mcp.MethodSetLogLevel, client.MCPClient.SetLevel)
	complete                    = define("Complete", mcp.MethodCompletionComplete, client.MCPClient.Complete)
	closing                     = defineBare("Close", "", func(inner client.MCPClient, _ context.Context) error { return inner.Close() })
)

// query is an operation with a request and a result.
type query[Req, Res any] struct{ *operation }

// command is an operation with a request and no result.
type command[Req any] struct{ *operation }

// signal is an operation with neither.
type signal struct{ *operation }

func register(name string, method mcp.MCPMethod, invoke func(context.Context, client.MCPClient, any) (any, error)) *operation {
	row := &operation{name, method, invoke}
	operations[name] = row
	return row
}

func define[Req, Res any](name string, method mcp.MCPMethod, f func(client.MCPClient, context.Context, Req) (*Res, error)) query[Req, Res] {
	pairs = append(pairs, pair{name, reflect.TypeFor[Req](), reflect.TypeFor[Res]()})
	return query[Req, Res]{register(name, method, func(ctx context.Context, inner client.MCPClient, value any) (any, error) {
		request, err := checked[Req](name, "request", value)
		if err != nil {
			return nil, err
		}
		result, err := f(inner, ctx, *request)
		if err != nil {
			return nil, err
		}
		return checked[Res](name, "result", result)
	})}
}

func defineSilent[Req any](name string, method mcp.MCPMethod, f func(client.MCPClient, context.Context, Req) error) command[Req] {
	pairs = append(pairs, pair{op: name, request: reflect.TypeFor[Req]()})
	return command[Req]{register(name, method, func(ctx context.Context, inner client.MCPClient, value any) (any, error) {
		request, err := checked[Req](name, "request", value)
		if err != nil {
			return nil, err
		}
		return nil, f(inner, ctx, *request)
	})}
}

func defineBare(name string, method mcp.MCPMethod, f func(client.MCPClient, context.Context) error) signal {
	return signal{register(name, method, func(ctx context.Context, inner client.MCPClient, _ any) (any, error) {
		return nil, f(inner, ctx)
	})}
}
