package wire

import (
	"net/http"
	"strings"
)

// revealMethodNotFound turns a 404 into a 200 where it says that this request's
// method does not exist, so that mcp-go reads it. To a notification, which has
// no answer, that is a failure of its own and no more: mcp-go would end the
// session. On a protocol without sessions, since 2026-07-28, there is none that any
// other 404 could end. Before, it keeps its every byte. It fails when the caller gave up
// before that could be told: a 404 would end a session that may well be alive.
func revealMethodNotFound(resp *http.Response, sent message) error {
	if !acceptsStream(resp.Request) || isEventStream(resp) {
		return nil
	}
	start := peek(resp.Body)
	answer := decodeError(start.readable())
	switch {
	case answer.saysMethodNotFound() && answer.ID.equal(sent.ID):
		succeed(resp)
	case answer.saysMethodNotFound() && sent.isNotification(), hasNoSessions(resp.Request):
		return newStatusError(resp, start)
	case start.failure() != nil && resp.Request.Context().Err() != nil:
		return start.failure()
	}
	resp.Body = start.before(resp.Body)
	return nil
}

// statelessSince is the first protocol that has no sessions. Versions are dates.
const statelessSince = "2026-07-28"

// hasNoSessions says whether the request is of such a protocol.
func hasNoSessions(req *http.Request) bool {
	return req.Header.Get("Mcp-Protocol-Version") >= statelessSince
}

// acceptsStream tells a POST of the streamable HTTP transport from one of the
// legacy SSE transport, which has its answers on another stream: there a 200
// would make the caller wait for ever.
func acceptsStream(req *http.Request) bool {
	accept := strings.Join(req.Header.Values("Accept"), ",")
	return strings.Contains(strings.ToLower(accept), eventStream)
}

// succeed gives the answer the status that lets mcp-go read its body.
func succeed(resp *http.Response) {
	resp.StatusCode = http.StatusOK
	resp.Status = "200 OK"
	resp.Header = resp.Header.Clone()
	if resp.Header == nil {
		resp.Header = make(http.Header, 1)
	}
	resp.Header.Set("Content-Type", "application/json")
}
