package failure

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// A cause is how a failure is recognised. Its remedy and its error.type, where
// it has any, say more than those of its kind.
type cause struct {
	matches   func(error) bool
	kind      Kind
	remedy    string
	errorType string
}

const (
	noEndpoint = "that is no MCP endpoint: check the path of the URL, and that no login page answers"
	wantsHTTP  = `check the path of the URL; a server that speaks streamable HTTP is configured with "type": "http"`
	wantsSSE   = `check the path of the URL; a server that speaks the older HTTP+SSE transport is configured with "type": "sse"`
	tooMuch    = "the server sends more than a client can take: tell its authors"

	tellTheAuthors = "tell the server's authors: vmcp check prints a report for them"
)

// causes are looked at in this order; the first that matches is it. What says
// more comes first: a dial may have timed out, and a process may have ended with
// a line that was too long.
var causes = []cause{
	{both(isDial, is(context.Canceled)), Cancelled, "", ""},
	{both(isDial, isTimeOut), TimedOut, kinds[Unreachable].remedy, ""},
	{isDial, Unreachable, "", ""},
	{as[*mcpclient.ContractError], Internal, "", ""},
	{isMisconfigured, Misconfigured, "", ""},
	{as[tls.RecordHeaderError], Misconfigured, "what answers there does not speak TLS: write http instead of https", ""},
	{is(http.ErrSchemeMismatch), Misconfigured, "the server speaks no TLS: begin the URL with http://", ""},
	{as[*tls.CertificateVerificationError], Untrusted, "", ""},
	{is(exec.ErrNotFound), Misconfigured, "install the command, or give its full path", ""},
	{is(fs.ErrNotExist), Misconfigured, "install the command, or give its full path", ""},
	{is(fs.ErrPermission), Misconfigured, "make the command executable", ""},
	{mcp.IsUnsupportedProtocolVersion, Incompatible, "", ""},
	{isUnauthorized, LoginWanted, "", ""},
	{isNoEventStream, Rejected, wantsHTTP, ""},
	{is(transport.ErrLegacySSEServer), Rejected, wantsSSE, ""},
	{as[*wire.MismatchError], Rejected, "the server mixes up the ids of its answers: tell its authors", "transport"},
	{both(as[*wire.BodyTooLargeError], is(transport.ErrTransportClosed)), Ended, tooMuch, ""},
	{is(transport.ErrTransportClosed), Ended, "", ""},
	{both(as[*fs.PathError], is(syscall.EPIPE)), Ended, "", ""},
	{is(syscall.EPIPE), Ended, seeTheServer, ""},
	{is(transport.ErrSessionTerminated), SessionLost, "", ""},
	{as[*wire.BodyTooLargeError], Unusable, tooMuch, "transport"},
	{is(mcpclient.ErrMalformedList), Unusable, tellTheAuthors, "malformed_list"},
	{hasCode, Refused, "", ""},
	{isTimeOut, TimedOut, "", ""},
	{is(context.Canceled), Cancelled, "", ""},
	{isPage, Undecodable, noEndpoint, ""},
	{both(isNoJSON, as[*transport.Error]), Undecodable, "", ""},
	{isNoJSON, Unusable, "", ""}, // the message could be read, and its result cannot
	{as[*transport.Error], Broken, "", ""},
	{as[*net.OpError], Broken, "", ""},
	{is(io.ErrUnexpectedEOF), Broken, "", ""},
}

// causeOf is how an error is recognised; an HTTP status tells it by its number.
func causeOf(err error) cause {
	if isLostSession(err) {
		return cause{kind: SessionLost}
	}
	if status, ok := errors.AsType[*wire.StatusError](err); ok && !isNoEventStream(err) {
		return ofStatus(status.StatusCode)
	}
	for _, known := range causes {
		if known.matches(err) {
			return known
		}
	}
	return cause{kind: Other}
}

// misconfigured is an error that says by itself whether a configuration cannot be
// right, and what to do about it.
type misconfigured interface {
	error
	Misconfigured() (remedy string, is bool)
}

func isMisconfigured(err error) bool {
	known, ok := errors.AsType[misconfigured](err)
	if !ok {
		return false
	}
	_, is := known.Misconfigured()
	return is
}

// isLostSession says whether an error says by itself that an experiment has shown
// the session to be lost: the server's own words do not tell.
func isLostSession(err error) bool {
	known, ok := errors.AsType[interface {
		error
		LostSession() bool
	}](err)
	return ok && known.LostSession()
}

func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func as[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

func both(one, other func(error) bool) func(error) bool {
	return func(err error) bool { return one(err) && other(err) }
}

// isDial says whether there was no connection over which to send anything.
func isDial(err error) bool {
	network, ok := errors.AsType[*net.OpError](err)
	return ok && (network.Op == "dial" || network.Op == "proxyconnect") || errors.Is(err, syscall.ECONNREFUSED)
}

func isUnauthorized(err error) bool {
	return errors.Is(err, transport.ErrAuthorizationRequired) || errors.Is(err, transport.ErrOAuthAuthorizationRequired)
}

// isNoEventStream tells the GET of the HTTP+SSE transport by its method.
func isNoEventStream(err error) bool {
	status, ok := errors.AsType[*wire.StatusError](err)
	return ok && status.Method == http.MethodGet && (status.StatusCode == http.StatusNotFound || status.StatusCode == http.StatusMethodNotAllowed)
}

// isNoJSON says whether something could not be decoded.
func isNoJSON(err error) bool { return as[*json.SyntaxError](err) || as[*json.UnmarshalTypeError](err) }

func isTimeOut(err error) bool {
	network, ok := errors.AsType[net.Error](err)
	return errors.Is(err, context.DeadlineExceeded) || ok && network.Timeout()
}

// isPage says whether mcp-go v1.2.1 got neither JSON nor an event stream; it has
// no type for that.
func isPage(err error) bool { return strings.Contains(err.Error(), "unexpected content type") }

// ofStatus is the cause of a failure that an HTTP status tells.
func ofStatus(status int) cause {
	switch status {
	case http.StatusUnauthorized:
		return cause{kind: LoginWanted}
	case http.StatusForbidden:
		return cause{kind: Forbidden}
	case http.StatusTooManyRequests:
		return cause{kind: RateLimited}
	case http.StatusMethodNotAllowed:
		return cause{kind: Rejected, remedy: wantsSSE}
	case http.StatusRequestTimeout, http.StatusTooEarly,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, siteOverloaded:
		return cause{kind: Overloaded}
	}
	if status >= http.StatusInternalServerError {
		return cause{kind: Failing}
	}
	return cause{kind: Rejected}
}

// siteOverloaded is a status that no RFC has and large sites use.
const siteOverloaded = 529
