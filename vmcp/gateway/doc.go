// Package gateway puts many backends behind one MCP endpoint: over streamable
// HTTP, for both eras of the protocol, and over stdio.
//
//	g := gateway.New(&vmcp.Builder{SoftDeadline: 5 * time.Second, AllowEmpty: true}, backends, gateway.Options{
//		Info: mcp.Implementation{Name: "vmcp", Version: "1"},
//	})
//	defer g.Shutdown(ctx)
//	mux.Handle(gateway.Path, g)
//
// What a request passes, and what comes back on the way:
//
//	client ─▶ Guard ─▶ Endpoint ─▶ method ─▶ caller's session ─▶ backend
//	          Origin,   connections, lists,     one for all its     one request
//	          token     bounds       calls      connections         for each call
//	client ◀─ stream of its request ◀─ progress, logs, questions ◀─ backend
//	client ◀─ GET, listen or stdio  ◀─ changed lists, updated resources, states
//
// # Sessions
//
// A [vmcp.Session] belongs to a caller, not to a connection: to an identity, and
// to what its client can be asked for, since that is what the backends are told.
// Its connections share it, whatever their protocol and transport. The first
// request builds it, and requests that come meanwhile wait for that one; a build
// that fails is tried again by the next. It ends when no client is connected and
// none has asked for [Options.Idle], but for the one that was used last, which
// goes on to look after the backends; or with [Gateway.Shutdown], which waits for
// the calls in flight first. [Gateway.Apply] changes the backends of all.
//
// Subscriptions are counted per resource, and the lowest level of log messages
// that a connection wants is what the backends are asked for; each connection
// gets what it wants itself. A client before protocol 2026-07-28 is asked
// (sampling, elicitation, roots) on the stream of the request that its backend
// works on. A later one gets the question as a result that needs input, while
// the request to the backend stays open, and sends its request again with the
// answer, within 10 minutes: then the request to the backend is cancelled. What
// a backend asks outside any call goes to a client that is there, or is refused.
// The rounds of a backend of that protocol pass as they are.
//
// # What is told
//
// The endpoint declares what at least one backend really serves, counted after
// the rule of tolerance, or may serve soon, since it has not answered yet, or
// failed and is tried again. A forgiven backend does not make the gateway repeat
// its empty promise, and what the gateway once promised stays a list, if an empty
// one. What is missing is told with the reason, since when, and the remedy, all
// from [vmcp.Session.Report]:
//
//   - in the instructions of the handshake, and by the tool [StatusTool] at any
//     time (a backend's tool of that name wins);
//   - in each list that lacks something, in its _meta under [MissingKey];
//   - in a log message when a backend fails, is degraded or is back;
//   - in the error result of a tool whose backend is not there, and in the error
//     for a prompt or a resource.
//
// JSON-RPC errors of backends pass with their code and data, and a message that
// names the backend. What the gateway cannot take at the moment it refuses with
// code 503: when it shuts down, or a bound of [Options] is reached.
//
// # Safety
//
// Requests that a page of another origin makes a browser send are refused, so
// are those without a token if there are [Tokens], and on loopback those with a
// Host header that is not: no web page reaches the gateway by rebinding a name.
// A session's ID is worth nothing to another identity. Bodies, sessions and
// concurrent calls are bounded. No URL's or environment's secret is in anything
// that is told. Of the caller's HTTP headers only those travel to a backend that
// its [vmcp.Backend.ForwardHeaders] name.
package gateway
