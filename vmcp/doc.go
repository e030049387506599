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
// fails a list that it advertised in another way, is failed and costs the others
// nothing. Only the failure of resources/templates/list degrades it, and with
// [Tolerance].DegradeFailures that of every list but the tools'.
// [Session.Report] is the single truth about what is missing and why.
//
// # Recovery
//
// A session brings back what failed. A backend that cannot be reached, whose
// process or connection ends, or that leaves too many requests in a row
// unanswered, is failed, and tried again after a time that grows ([Retry],
// [Breaker]). Until it is back its last good lists stay for a while
// ([Builder.StaleFor]), and calls to it end at once with an
// [*UnavailableError]. A server that asks to be left alone, with Retry-After, is:
// by requests for a minute at most and within their time, by attempts to bring it
// back for an hour.
//
// A server that has forgotten its session gets a new one, once for all calls that
// wait for it. HTTP 404 says that it has. Any other answer that is none to the
// request, such as HTTP 400, may be about the request alone: a cheap request in
// the old session decides, at most one in each pause of [Retry], and only if that
// is refused, too, is the session lost. What may be sent twice is sent again in
// the new one, and the call of a tool that may do harm ends with a
// [*NotRepeatedError].
//
// A request that was certainly not sent, since nobody listened or the server
// turned it away unread (HTTP 429), is made again when the backend is back, within
// its own time and at most for as long as connecting may take. A JSON-RPC error and
// a result whose IsError is set are answers: but for that experiment they change no
// state.
//
// [Session.OnChange] and [Session.OnState] tell of all of it, and the log has one
// record for each change of a state, with the event backend_connecting,
// backend_ready, backend_degraded, backend_failed or backend_recovered.
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
//	*RefusedError         the backend answered with a JSON-RPC error; its text has the code
//	ErrNoPeer             what a backend is told when nobody can answer it
//	ErrClosed             the session is closed
//
// A tool that fails is no error but a result whose IsError is set. Any other
// error is the transport's or the context's, with its type. What it means, whether
// it was sent and whether it may be repeated, says package failure.
//
// # Concurrency
//
// A [Session] is safe for concurrent use, [Session.Apply] and [Session.Close]
// included. Each backend has one goroutine that looks after it; calls run on
// those of their callers and never wait for another backend. Functions given to
// OnChange, OnState and OnNotification run on the goroutine that noticed, may run
// several at a time, and must neither block nor close the session.
package vmcp
