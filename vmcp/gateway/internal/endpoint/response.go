package endpoint

import (
	"log/slog"
	"net/http"
	"strings"

	"github.com/mcp-candor/candor/internal/sse"
)

// response is the answer to a POST: one JSON body, or an event stream from the
// moment that something has to be said ahead of the answer. Its request does
// not send while it is answered.
type response struct {
	writer
	logger  *slog.Logger
	takes   bool        // the client takes event streams
	broken  func(error) // is told when the stream cannot be written
	session string      // to tell the client about; empty if there is nothing to tell

	ahead *outbox       // what is to be said first; nil as long as there is nothing
	stop  chan struct{} // closed when there will be no more of it
	said  chan error    // why the writing ended
}

func newResponse(w http.ResponseWriter, r *http.Request, logger *slog.Logger, broken func(error)) *response {
	out := &response{writer: newWriter(w), logger: logger, broken: broken}
	out.takes = accepts(r, sse.MediaType) && out.CanStream()
	return out
}

// accepts says whether the client wants a media type; one that says nothing
// wants all, but an event stream only if it asks for one.
func accepts(r *http.Request, media string) bool {
	for _, header := range r.Header.Values("Accept") {
		for accepted := range strings.SplitSeq(header, ",") {
			accepted, _, _ = strings.Cut(accepted, ";")
			if accepted = strings.TrimSpace(accepted); accepted == "*/*" || strings.EqualFold(accepted, media) {
				return true
			}
		}
	}
	return false
}

// send makes a stream of the response.
func (r *response) send(message any) error {
	if !r.takes {
		return errEnded
	}
	if r.ahead == nil {
		r.ahead, r.stop, r.said = newOutbox(r.logger), make(chan struct{}), make(chan error, 1)
		r.nameSession()
		r.Open()
		go r.writeAhead()
	}
	return r.ahead.send(message)
}

func (r *response) writeAhead() {
	err := r.follow(r.ahead, r.stop)
	if err != nil {
		r.broken(err)
	}
	r.said <- err
}

// answer writes the answer, with the status if that can still be said.
func (r *response) answer(status int, line []byte) error {
	if r.ahead == nil {
		r.nameSession()
		return r.json(status, line)
	}
	close(r.stop)
	if err := <-r.said; err != nil {
		return err
	}
	if err := r.empty(r.ahead, nil); err != nil {
		return err
	}
	return r.message(line)
}

func (r *response) nameSession() {
	if r.session != "" {
		r.Header().Set(SessionHeader, r.session)
	}
}
