package failure_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/mcp-candor/candor/mcpclient/failure"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
)

func get(status int) error  { return &wire.StatusError{Method: "GET", StatusCode: status} }
func post(status int) error { return &wire.StatusError{Method: "POST", StatusCode: status} }

func dial(err error) error { return &net.OpError{Op: "dial", Err: err} }

// wrong is a configuration that knows that it is none.
type wrong struct{}

func (wrong) Error() string                 { return "no URL" }
func (wrong) Misconfigured() (string, bool) { return "write a URL", true }

// gone is a session of which an experiment has shown that it is.
type gone struct{ error }

func (g gone) Unwrap() error   { return g.error }
func (gone) LostSession() bool { return true }

// unsent says by itself that nothing was sent.
type unsent struct{}

func (unsent) Error() string { return "the way is closed" }
func (unsent) NotSent() bool { return true }

// Each row is one reading: what the error is, and all that follows from that.
func TestTheReadingOfAFailure(t *testing.T) {
	t.Parallel()
	const (
		nothing    = 0
		notSent    = 1
		transient  = 2
		person     = 4
		olderHelps = 8
		ends       = 16
	)
	for name, test := range map[string]struct {
		err         error
		kind        failure.Kind
		consequence failure.Consequence
		traits      int
		errorType   string
		remedy      string
	}{
		"no error":                     {nil, failure.None, failure.Keep, nothing, "_OTHER", ""},
		"a refused dial":               {dial(syscall.ECONNREFUSED), failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"a refused port":               {syscall.ECONNREFUSED, failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"no such socket":               {dial(syscall.ENOENT), failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"a network that is forbidden":  {dial(syscall.EPERM), failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"no such host":                 {dial(&net.DNSError{Err: "no such host", Name: "x"}), failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"a proxy that is not there":    {&net.OpError{Op: "proxyconnect", Err: syscall.EHOSTUNREACH}, failure.Unreachable, failure.Fail, notSent | transient, "transport", "check the address"},
		"a dial without end":           {dial(context.DeadlineExceeded), failure.TimedOut, failure.Count, notSent | transient | olderHelps, "timeout", "check the address"},
		"a dial that is interrupted":   {dial(context.Canceled), failure.Cancelled, failure.Keep, notSent | transient | olderHelps, "transport", "cancelled"},
		"a certificate of nobody":      {&tls.CertificateVerificationError{Err: errors.New("x")}, failure.Untrusted, failure.Fail, notSent | person, "transport", "not trusted"},
		"no TLS where some is wanted":  {tls.RecordHeaderError{}, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "http instead of https"},
		"another scheme":               {http.ErrSchemeMismatch, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "http://"},
		"no such command":              {exec.ErrNotFound, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "install the command"},
		"no such file":                 {fs.ErrNotExist, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "install the command"},
		"a file that is no program":    {&fs.PathError{Op: "fork/exec", Path: "/x", Err: syscall.EACCES}, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "executable"},
		"a target that says so itself": {wrong{}, failure.Misconfigured, failure.Fail, notSent | person, "misconfigured", "write a URL"},
		"no credentials":               {&transport.AuthorizationRequiredError{}, failure.LoginWanted, failure.Count, notSent | person, "unauthorized", "credentials"},
		"no token":                     {&transport.OAuthAuthorizationRequiredError{}, failure.LoginWanted, failure.Count, notSent | person, "unauthorized", "credentials"},
		"HTTP 401":                     {post(401), failure.LoginWanted, failure.Count, notSent | person, "401", "credentials"},
		"HTTP 403":                     {post(403), failure.Forbidden, failure.Count, notSent | person, "403", "credentials"},
		"HTTP 429":                     {post(429), failure.RateLimited, failure.Count, notSent | transient, "429", "try again later"},
		"HTTP 408":                     {post(408), failure.Overloaded, failure.Count, transient, "408", "try again later"},
		"HTTP 502":                     {post(502), failure.Overloaded, failure.Count, transient, "502", "try again later"},
		"HTTP 503":                     {post(503), failure.Overloaded, failure.Count, transient, "503", "try again later"},
		"HTTP 425":                     {post(425), failure.Overloaded, failure.Count, transient, "425", "try again later"},
		"HTTP 504":                     {post(504), failure.Overloaded, failure.Count, transient, "504", "try again later"},
		"HTTP 529":                     {post(529), failure.Overloaded, failure.Count, transient, "transport", "try again later"},
		"HTTP 500":                     {post(500), failure.Failing, failure.Count, nothing, "500", "try again later"},
		"HTTP 400":                     {post(400), failure.Rejected, failure.Doubt, nothing, "400", "see what the server says"},
		"HTTP 404":                     {post(404), failure.Rejected, failure.Doubt, nothing, "404", "see what the server says"},
		"HTTP 410":                     {post(410), failure.Rejected, failure.Doubt, nothing, "410", "see what the server says"},
		"a POST that is not allowed":   {post(405), failure.Rejected, failure.Doubt, nothing, "405", `"type": "sse"`},
		"not the streamable HTTP URL":  {transport.ErrLegacySSEServer, failure.Rejected, failure.Doubt, nothing, "transport", `"type": "sse"`},
		"not the event stream's URL":   {get(404), failure.Rejected, failure.Doubt, nothing, "404", `"type": "http"`},
		"a GET that is not allowed":    {get(405), failure.Rejected, failure.Doubt, nothing, "405", `"type": "http"`},
		"the answer to another one":    {&wire.MismatchError{Sent: "1", Got: "2"}, failure.Rejected, failure.Doubt, nothing, "transport", "authors"},
		"a session that is gone":       {transport.ErrSessionTerminated, failure.SessionLost, failure.Renew, olderHelps | ends, "session_terminated", "connect again"},
		"one that an experiment found": {gone{post(400)}, failure.SessionLost, failure.Renew, olderHelps | ends, "400", "connect again"},
		"a process that has ended":     {transport.ErrTransportClosed, failure.Ended, failure.Fail, transient | olderHelps | ends, "transport", "run its command by hand"},
		"a line that ended a process":  {errors.Join(transport.ErrTransportClosed, &wire.BodyTooLargeError{}), failure.Ended, failure.Fail, transient | olderHelps | ends, "transport", "more than a client can take"},
		"a pipe that nobody reads":     {&fs.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}, failure.Ended, failure.Fail, transient | olderHelps | ends, "transport", "run its command by hand"},
		"a socket that nobody reads":   {&net.OpError{Op: "write", Err: syscall.EPIPE}, failure.Ended, failure.Fail, transient | olderHelps | ends, "transport", "see what the server says"},
		"a connection that broke":      {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, failure.Broken, failure.Count, transient | olderHelps, "transport", "see what the server says"},
		"a transport that failed":      {transport.NewError(io.EOF), failure.Broken, failure.Count, transient | olderHelps, "transport", "see what the server says"},
		"half an answer":               {io.ErrUnexpectedEOF, failure.Broken, failure.Count, transient | olderHelps, "transport", "see what the server says"},
		"no answer":                    {context.DeadlineExceeded, failure.TimedOut, failure.Count, transient | olderHelps, "timeout", "did not answer in time"},
		"a read that took too long":    {&net.OpError{Op: "read", Err: os.ErrDeadlineExceeded}, failure.TimedOut, failure.Count, transient | olderHelps, "timeout", "did not answer in time"},
		"a caller that gave up":        {context.Canceled, failure.Cancelled, failure.Keep, transient | olderHelps, "transport", "cancelled"},
		"an answer that is too long":   {&wire.BodyTooLargeError{}, failure.Unusable, failure.Keep, nothing, "transport", "more than a client can take"},
		"a list that is none":          {mcpclient.ErrMalformedList, failure.Unusable, failure.Keep, nothing, "malformed_list", "authors"},
		"a page instead of an answer":  {errors.New("unexpected content type: text/html"), failure.Undecodable, failure.Count, olderHelps, "transport", "no MCP endpoint"},
		"a message that is no JSON":    {transport.NewError(&json.SyntaxError{}), failure.Undecodable, failure.Count, olderHelps, "transport", "see what the server says"},
		"a result of another shape":    {&json.SyntaxError{}, failure.Unusable, failure.Keep, nothing, "_OTHER", "see what the server says"},
		"a message of another shape":   {transport.NewError(&json.UnmarshalTypeError{Type: reflect.TypeFor[int]()}), failure.Undecodable, failure.Count, olderHelps, "transport", "see what the server says"},
		"another protocol":             {mcp.UnsupportedProtocolVersionError{}, failure.Incompatible, failure.Keep, person | olderHelps, "-32022", "speaks no protocol version"},
		"a JSON-RPC error":             {mcp.ErrInternalError, failure.Refused, failure.Keep, olderHelps, "-32603", "see what the server says"},
		"one that mcp-go flattens":     {&failure.RPCError{Code: -32000}, failure.Refused, failure.Keep, olderHelps, "-32000", "see what the server says"},
		"one with the code 0":          {&failure.RPCError{}, failure.Refused, failure.Keep, olderHelps, "0", "see what the server says"},
		"one with a status of 4xx":     {&failure.RPCError{Code: -32000, Status: 400}, failure.Refused, failure.Doubt, olderHelps, "-32000", "see what the server says"},
		"one with a status of 5xx":     {&failure.RPCError{Code: -32000, Status: 500}, failure.Refused, failure.Keep, olderHelps, "-32000", "see what the server says"},
		"a contract that is broken":    {&mcpclient.ContractError{}, failure.Internal, failure.Keep, olderHelps, "_OTHER", "authors"},
		"a way that is closed":         {unsent{}, failure.Other, failure.Keep, notSent | transient | olderHelps, "_OTHER", "see what the server says"},
		"an error without a type":      {errors.New("any"), failure.Other, failure.Keep, olderHelps, "_OTHER", "see what the server says"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wrapped := test.err
			if wrapped != nil {
				wrapped = fmt.Errorf("wrapped: %w", fmt.Errorf("again: %w", test.err))
			}
			for _, err := range []error{test.err, wrapped} {
				read := failure.Of(err)
				assert.Equal(t, test.kind, read.Kind, "it is %s", read.Kind)
				assert.Equal(t, test.consequence, read.Consequence())
				assert.Equal(t, test.traits&notSent != 0, read.NotSent(), "not sent")
				assert.Equal(t, test.traits&transient != 0, read.Transient(), "transient")
				assert.Equal(t, test.traits&person != 0, read.NeedsPerson(), "needs a person")
				assert.Equal(t, test.traits&olderHelps != 0, err != nil && read.OlderMayHelp(), "an older protocol may help")
				assert.Equal(t, test.traits&ends != 0, read.EndsSession(), "ends the session")
				assert.Equal(t, test.errorType, read.Type())
				assert.Contains(t, read.Remedy(), test.remedy)
			}
		})
	}
}

func TestWhatMayBeRepeated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err               error
		harmless, harmful bool
	}{
		"what nobody has seen may be sent again, whatever it is": {dial(syscall.ECONNREFUSED), true, true},
		"so may what was turned away unread":                     {post(429), true, true},
		"what may have had an effect only if it may have two":    {post(503), true, false},
		"what has been waited for likewise":                      {context.DeadlineExceeded, true, false},
		"what somebody has to mend is not repeated":              {post(401), false, false},
		"what was answered is not repeated":                      {mcp.ErrInternalError, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.harmless, failure.Of(test.err).Repeatable(true))
			assert.Equal(t, test.harmful, failure.Of(test.err).Repeatable(false))
		})
	}
}

func TestHowLongTheServerAsksToBeLeftAlone(t *testing.T) {
	t.Parallel()
	asked := &wire.StatusError{StatusCode: 429, RetryAfter: 4 * time.Second}
	assert.Equal(t, 4*time.Second, failure.Of(fmt.Errorf("wrapped: %w", asked)).RetryAfter)
	assert.Zero(t, failure.Of(post(429)).RetryAfter)
}

func TestTheCodeIsTheExactOne(t *testing.T) {
	t.Parallel()
	flattened := errors.New("busy")
	code, ok := failure.Code(&failure.RPCError{Code: -32004, Message: "busy", Err: flattened})
	assert.True(t, ok)
	assert.Equal(t, -32004, code)
	_, ok = failure.Code(flattened)
	assert.False(t, ok)
	// The text of a message says nothing: only the code does.
	assert.True(t, failure.IsMethodNotFound(fmt.Errorf("wrapped: %w", mcp.ErrMethodNotFound)))
	assert.False(t, failure.IsMethodNotFound(errors.New(mcp.ErrMethodNotFound.Error()+": resources/list")))
	assert.False(t, failure.IsMethodNotFound(&failure.RPCError{Code: -32000, Message: "method not found"}))
}

func TestTheCodeToAnswerWith(t *testing.T) {
	t.Parallel()
	assert.Equal(t, mcp.METHOD_NOT_FOUND, failure.AnswerCode(fmt.Errorf("x: %w", mcp.ErrMethodNotFound)))
	assert.Equal(t, mcp.REQUEST_INTERRUPTED, failure.AnswerCode(context.Canceled))
	assert.Equal(t, mcp.INTERNAL_ERROR, failure.AnswerCode(context.DeadlineExceeded))
	assert.Equal(t, mcp.INTERNAL_ERROR, failure.AnswerCode(errors.New("any")))
}

func TestWordsAreNeverEmptyAndNeverLong(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"a message without a word has its code":     {fmt.Errorf("tools/list: %w", &failure.RPCError{Code: -32000, Status: 500}), "tools/list: JSON-RPC error -32000 without a message, with HTTP status 500"},
		"the code stands before the server's words": {&failure.RPCError{Code: -32000, Message: "busy"}, "JSON-RPC error -32000: busy"},
		"an error that ends after a colon":          {fmt.Errorf("tools/list: %w", errors.New("")), "tools/list: other, and no more words"},
		"an error without any text":                 {errors.New(" \n"), "a failure without words: other"},
		"what mcp-go says twice":                    {transport.NewError(fmt.Errorf("failed to send request: %w", errors.New("failed to send request: x"))), "x"},
		"no error has none":                         {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, failure.Of(test.err).Words())
		})
	}
	long := failure.Of(errors.New(strings.Repeat("ü", 100_000))).Words()
	assert.Less(t, len(long), 5<<10)
	assert.Contains(t, long, "ü... (and 97952 characters more)", "it says that there was more")
}

func TestEveryKindHasAName(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for kind := failure.None; kind <= failure.Other; kind++ {
		assert.NotEmpty(t, kind.String())
		assert.False(t, seen[kind.String()], "%s stands twice", kind)
		seen[kind.String()] = true
	}
	assert.Equal(t, "Kind?", (failure.Other + 1).String())
}

func TestWhatIsAnAnswer(t *testing.T) {
	t.Parallel()
	for kind := failure.None; kind <= failure.Other; kind++ {
		answered := failure.Failure{Kind: kind}.Answered()
		assert.Equal(t, kind == failure.None || kind >= failure.Unusable, answered, "%s", kind)
	}
	assert.True(t, failure.Of(mcp.ErrInternalError).Answered())
	assert.False(t, failure.Of(post(400)).Answered())
}
