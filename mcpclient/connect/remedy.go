package connect

import (
	"context"
	"crypto/tls"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/wire"
)

// Remedy says what a person can do about the failure of a connection or of a
// request, in one clause.
func Remedy(err error) string {
	if misused, ok := errors.AsType[*TargetError](err); ok {
		return misused.Instead
	}
	for _, known := range remedies {
		if known.matches(err) {
			return known.remedy
		}
	}
	return "see what the server says, here and in its own log"
}

var remedies = []struct {
	matches func(error) bool
	remedy  string
}{
	{isDialError,
		"check the address, and that the server is running"},
	{func(err error) bool {
		var tooLarge *wire.BodyTooLargeError
		return errors.As(err, &tooLarge)
	},
		"the server sends more than a client can take: tell its authors"},
	{func(err error) bool { return strings.Contains(err.Error(), "unexpected content type") }, // mcp-go has no type for it
		"that is no MCP endpoint: check the path of the URL, and that no login page answers"},
	{func(err error) bool {
		_, plain := errors.AsType[tls.RecordHeaderError](err)
		return plain
	},
		"what answers there does not speak TLS: write http instead of https"},
	{isUntrusted,
		"the certificate is not trusted: check the address, or trust who issued it"},
	{func(err error) bool { return errors.Is(err, http.ErrSchemeMismatch) },
		"the server speaks no TLS: begin the URL with http://"},
	{func(err error) bool { return errors.Is(err, errDir) },
		"check the working directory"},
	{func(err error) bool { return errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) },
		"install the command, or give its full path"},
	{func(err error) bool { return errors.Is(err, fs.ErrPermission) },
		"make the command executable"},
	{func(err error) bool { return isUnauthorized(err) || wire.HasStatus(err, http.StatusForbidden) },
		"the server wants other credentials: check the headers, such as Authorization"},
	{isNoEventStream,
		"check the path of the URL; a server that speaks streamable HTTP is configured with \"type\": \"http\""},
	{func(err error) bool {
		return errors.Is(err, transport.ErrLegacySSEServer) || wire.HasStatus(err, http.StatusMethodNotAllowed)
	},
		"check the path of the URL; a server that speaks the older HTTP+SSE transport is configured with \"type\": \"sse\""},
	{func(err error) bool { return wire.HasStatus(err, http.StatusTooManyRequests) },
		"the server is asked too often: try again later"},
	{func(err error) bool {
		var status *wire.StatusError
		return errors.As(err, &status) && status.StatusCode >= 500
	},
		"the server, or a proxy before it, is failing: try again later and tell those who run it"},
	{isUnsupported,
		"the server speaks no protocol version that was asked for: update it, or ask for one that it supports"},
	{isProcessGone,
		"the server ended: run its command by hand to see why"},
	{func(err error) bool { return errors.Is(err, transport.ErrSessionTerminated) },
		"the server no longer knows the session: connect again"},
	{func(err error) bool { return errors.Is(err, context.Canceled) },
		"it was cancelled: try again"},
	{func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		"the server did not answer in time: check that it is an MCP server, or allow it more time"},
}

func isUnsupported(err error) bool { return mcp.IsUnsupportedProtocolVersion(err) }

func isUnauthorized(err error) bool {
	return errors.Is(err, transport.ErrAuthorizationRequired) || errors.Is(err, transport.ErrOAuthAuthorizationRequired)
}

func isDialError(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && (network.Op == "dial" || network.Op == "proxyconnect")
}

func isUntrusted(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}

// isProcessGone covers the write that comes before the end has been noticed.
func isProcessGone(err error) bool {
	var pipe *fs.PathError
	return errors.Is(err, transport.ErrTransportClosed) || errors.As(err, &pipe) && errors.Is(pipe, syscall.EPIPE)
}

// isNoEventStream tells the GET of the HTTP+SSE transport by its method.
func isNoEventStream(err error) bool {
	var status *wire.StatusError
	return errors.As(err, &status) && status.Method == http.MethodGet &&
		(status.StatusCode == http.StatusNotFound || status.StatusCode == http.StatusMethodNotAllowed)
}
