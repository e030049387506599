package wire

import (
	"net/http"
	"slices"
)

// isFailure says whether mcp-go should be told about the status of this answer
// to a POST.
func isFailure(resp *http.Response) bool {
	switch resp.StatusCode / 100 {
	case 1, 2:
		return false
	case 3:
		return !isFollowed(resp)
	default:
		return resp.StatusCode != http.StatusUnauthorized
	}
}

// isFollowed says whether [http.Client] follows the redirect; what it does not
// follow it hands to mcp-go.
func isFollowed(resp *http.Response) bool {
	followed := []int{
		http.StatusMovedPermanently,
		http.StatusFound,
		http.StatusSeeOther,
		http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect,
	}
	return slices.Contains(followed, resp.StatusCode) && resp.Header.Get("Location") != ""
}

// checkFailure lets a JSON-RPC error pass, byte for byte, and makes anything
// else a [*StatusError]. A 429 is HTTP's own word, whatever comes with it: nobody
// has looked at the request, and when it may come again stands in a header.
func checkFailure(resp *http.Response, sent message) error {
	start := peek(resp.Body)
	answer := decodeError(start.readable())
	if answer == nil || resp.StatusCode == http.StatusTooManyRequests || answer.Error.Code == methodNotFound && !knowsMethods(resp.StatusCode) {
		return newStatusError(resp, start)
	}
	if resp.StatusCode/100 == 4 && refusesHandshake(answer, sent, resp.Request) {
		succeed(resp)
	}
	resp.Body = start.before(resp.Body)
	return nil
}

// refusesHandshake says whether the error answers an initialize. Under a 4xx
// mcp-go would not read it and report a legacy SSE server instead.
func refusesHandshake(answer *response, sent message, req *http.Request) bool {
	return sent.Method == "initialize" && acceptsStream(req) && answer.ID.equal(sent.ID)
}

// knowsMethods says whether a -32601 under this status can be believed. Who
// forbids or fails has not looked for the method; 501 is HTTP's own word for
// one that does not exist.
func knowsMethods(status int) bool {
	return status != http.StatusForbidden && (status/100 != 5 || status == http.StatusNotImplemented)
}
