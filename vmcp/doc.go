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
// # Recovery
//
// A session brings back what failed. A backend that cannot be reached, whose
// process or connection ends, or that leaves too many requests in a row
// unanswered, is failed, and tried again after a time that grows ([Retry],
// [Breaker]). Until it is back its last good lists stay for a while
// ([Builder.StaleFor]), and calls to it end at once with an
// [*UnavailableError]. A server that has forgotten its session gets a new one,
// once for all calls that wait for it; what may be sent twice is sent again
// then, and the call of a tool that may do harm ends with a
// [*NotRepeatedError]. [Session.OnChange] and [Session.OnState] tell of all of
// it, and the log has one record for each change of a state, with the event
// backend_connecting, backend_ready, backend_degraded, backend_failed or
// backend_recovered.
//
// # Names
//
// Tools and prompts are exposed as <backendID>_<name>, or as a [Names], a
// [Backend]'s Prefix and its [ToolSelection] have it. A name that would not be
// a valid tool name, would be longer than 128 characters or, with a prefix, would
// be equal to another ends in a hash instead; the name depends on the set of
// backends and tools only, and with [Priority] on the order of the backends.
// Resources keep their URIs: where two backends offer the same one, the backend
// listed first serves it and the other's is reported as left out.
//
// # What a backend asks and tells
//
// A backend may turn to the one whose call it works on, if that came with a
// [Peer]: for what [Builder].Asks allows, and with the progress of the call. It
// gets of its headers only those that [Backend].ForwardHeaders names. All else
// that it says is for [Session.OnNotification].
//
// # Errors
//
// All of them are found with [errors.As] or [errors.Is], say which backend they
// are about, and have no secret of its target in their text.
//
//	ErrBackends           the backends given to Build or Apply are invalid
//	*BuildError           there is no session: a required backend failed, or all
//	*UnknownError         no backend has what was asked for
//	*UnavailableError     its backend is not there now: state, cause, remedy
//	*NotRepeatedError     the server forgot its session during the call of a tool
//	*RefusedError         the backend answered with a JSON-RPC error, exactly
//	ErrNoPeer             what a backend is told when nobody can answer it
//	ErrClosed             the session is closed
//
// A tool that fails is no error but a result whose IsError is set. Any other
// error is the transport's or the context's, with its type.
//
// # Concurrency
//
// A [Session] is safe for concurrent use, [Session.Apply] and [Session.Close]
// included. Each backend has one goroutine that looks after it; calls run on
// those of their callers and never wait for another backend. Functions given to
// OnChange, OnState and OnNotification run on the goroutine that noticed, may run
// several at a time, and must neither block nor close the session.
package vmcp
