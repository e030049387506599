// Package vmcp builds one session over many MCP servers, the backends: a
// virtual MCP server.
//
//	session, err := (&vmcp.Builder{Logger: logger}).Build(ctx, []vmcp.Backend{
//		{ID: "github", Connector: connect.To(connect.HTTP{URL: url})},
//		{ID: "files", Connector: connect.To(connect.Stdio{Command: "mcp-files"})},
//	})
//	if err != nil { ... }
//	defer session.Close()
//	fmt.Print(session.Report())
//
// Every backend is reached through middleware.Default: the rule of tolerance
// holds on each path. A backend that advertises resources or prompts and does
// not have them is degraded and keeps its tools; one that cannot be reached, or
// fails a list that it advertised, is failed and costs the others nothing.
// [Session.Report] is the single truth about what is missing and why.
//
// # Names
//
// Tools and prompts are exposed as <backendID>_<name>. A name that would not be
// a valid tool name, would be longer than 128 characters or would be equal to
// another ends in a hash instead; the name depends on the set of backends and
// tools only, not on their order. Resources keep their URIs: where two backends
// offer the same one, the backend listed first serves it and the other's is
// reported as left out.
package vmcp
