package wire

import "net/http"

// Transport is an [http.RoundTripper] that corrects what mcp-go would
// misunderstand in the answers of an MCP server; the package comment has the
// rules. The zero value is ready for use.
//
// Its fields must not change after the first request. It is then safe for
// concurrent use, by any number of clients.
type Transport struct {
	// Base does the requests. Nil means [http.DefaultTransport].
	Base http.RoundTripper

	// MaxBody is how many bytes of one answer the client may read, and of
	// one event where the answer is an event stream. Zero or less means
	// [DefaultMaxBody].
	MaxBody int64
}

// RoundTrip does one request and judges its answer.
//
// The error is that of Base, a [*StatusError], or, when the request's context
// ended while a 404 was being read, what ended the reading. With an error there is no
// response, and its body is closed; a response's body is the caller's to close
// and may fail with a [*BodyTooLargeError] or a [*MismatchError]. The request is never modified, and
// is what the response's Request points to.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	sent := messageOf(req)
	exchange := announce(req, sent)
	resp, err := t.base().RoundTrip(withoutSecrets(req))
	if resp == nil {
		return nil, err
	}
	// A chain of redirects is walked through this field, which a Base need
	// not have set and which must not lead to a stripped clone.
	resp.Request = req
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	exchange.answered(resp)
	if err == nil {
		err = judge(resp, sent)
	}
	if err != nil {
		_ = resp.Body.Close()
		return nil, err
	}
	bound(resp, t.MaxBody)
	overhear(exchange, sent, resp)
	return resp, nil
}

// CloseIdleConnections passes on to Base, where Base has that method.
// [http.Client.CloseIdleConnections] comes here.
func (t *Transport) CloseIdleConnections() {
	if closer, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// judge changes an answer that mcp-go would misread, or says why the client
// must not see it.
func judge(resp *http.Response, sent message) error {
	switch {
	case !answersPost(resp.Request) || !isFailure(resp):
		return nil
	case resp.StatusCode == http.StatusNotFound:
		return revealMethodNotFound(resp, sent)
	default:
		return checkFailure(resp, sent)
	}
}
