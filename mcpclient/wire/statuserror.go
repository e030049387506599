package wire

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/mcp-candor/candor/internal/plain"
)

const (
	maxErrorBody = 4 << 10 // how many bytes of the server's words a StatusError keeps
	maxExcerpt   = 200     // and how many characters of them its text shows
)

// StatusError is a failed HTTP request whose answer was no JSON-RPC error.
// Test for it with [errors.As]: it comes through [url.Error], through mcp-go's
// wrapping and through its transport.Error.
//
// A url.Error around it, which [http.Client] makes, prints the whole URL with
// its query; the text of StatusError itself does not.
type StatusError struct {
	StatusCode int    // as received
	Method     string // the HTTP method, such as "POST"
	URL        string // scheme, host and path; no user, query or fragment

	// Body is what the server said, raw and unchecked: at most the first
	// 4 KiB. It may be empty, or no text at all.
	Body string

	// RetryAfter is how long the server asks to wait; 0 when it did not ask.
	// A date in Retry-After counts from the answer's own Date, so that
	// clocks need not agree.
	RetryAfter time.Duration

	cause error
}

func newStatusError(resp *http.Response, start beginning) *StatusError {
	return &StatusError{
		StatusCode: resp.StatusCode,
		Method:     resp.Request.Method,
		URL:        publicURL(resp.Request.URL),
		Body:       string(start.data[:min(len(start.data), maxErrorBody)]),
		RetryAfter: retryAfter(resp.Header),
		cause:      start.failure(),
	}
}

// Error names the server, the status, the first words of the body, quoted on
// one line, and how long to wait. It has neither query nor headers in it.
func (e *StatusError) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: server answered %s", e.Method, e.URL, statusLine(e.StatusCode))
	if e.Body != "" {
		text.WriteString(": " + excerpt(e.Body))
	}
	if e.RetryAfter > 0 {
		fmt.Fprintf(&text, " (retry after %s)", e.RetryAfter)
	}
	return text.String()
}

// Unwrap returns what broke off the reading of the body, such as
// [context.Canceled]; nil when nothing did.
func (e *StatusError) Unwrap() error { return e.cause }

func publicURL(u *url.URL) string {
	if u == nil {
		return ""
	}
	public := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}
	return public.String()
}

func statusLine(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// excerpt quotes the beginning of body; quoting escapes line ends, control
// characters and what is no UTF-8.
func excerpt(body string) string {
	beginning, left := plain.Cut(body, maxExcerpt)
	if left > 0 {
		return strconv.Quote(beginning) + "..."
	}
	return strconv.Quote(body)
}

// HasStatus says whether an error is a [*StatusError] with that status.
func HasStatus(err error, status int) bool {
	failed, ok := errors.AsType[*StatusError](err)
	return ok && failed.StatusCode == status
}
