package badserver

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// act is what the server does about one request. Choosing it is the same for
// all transports; each has its own stage to play it on.
type act struct {
	Answer
	request  Request
	payload  []byte // nil: there is nothing to say, as to a notification
	scripted bool
	unknown  bool // nobody scripted or built in the method
}

// stage is a connection's side of an act.
type stage interface {
	notify(message []byte)
	answer(payload []byte)
}

// ending is how an act ends; what a cut or an exit looks like is up to the
// transport.
type ending int

const (
	answered ending = iota
	silent          // the context ended while the server was silent
	cut
	exited
)

// act chooses what to do about a request, and counts it.
func (s *Server) act(request Request) act {
	a := s.choose(request)
	a.request = request
	switch {
	case a.Body != nil:
		a.payload = []byte(*a.Body)
	case request.asks(), a.speaks():
		a.payload = a.envelope(request.ID)
	}
	return a
}

func (s *Server) choose(request Request) act {
	if request.Method == "" && request.ID == nil {
		return act{Answer: Fail(mcp.PARSE_ERROR, "Parse error").WithStatus(400)}
	}
	answer, scripted := s.pick(request.Method, request)
	if !request.asks() {
		return act{Answer: answer, scripted: scripted}
	}
	result, known := s.builtin[request.Method]
	if !scripted && !known {
		if answer, scripted = s.pick("*", request); !scripted {
			return act{Answer: Fail(mcp.METHOD_NOT_FOUND, "Method not found"), unknown: true}
		}
	}
	if known && answer.Result == nil && answer.failure() == nil {
		answer.Result = result
	}
	return act{Answer: answer, scripted: scripted}
}

// pick takes the first answer under key that matches and is not used up.
func (s *Server) pick(key string, request Request) (Answer, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, candidate := range s.answers[key] {
		if candidate.matches(request) && (candidate.Times == 0 || candidate.given < candidate.Times) {
			candidate.given++
			return candidate.Answer, true
		}
	}
	return Answer{}, false
}

// play performs the act up to its end.
func (a act) play(ctx context.Context, on stage) ending {
	for _, message := range a.Before {
		on.notify(message)
	}
	switch {
	case !a.wait(ctx):
		return silent
	case a.Exit:
		return exited
	case a.Cut:
		return cut
	}
	if a.payload != nil {
		on.answer(a.payload)
	}
	for _, message := range a.After {
		on.notify(message)
	}
	return answered
}

// ends reports whether the act ends its connection there and then.
func (a act) ends() bool { return (a.Cut || a.Exit) && !a.Hang && a.Delay <= 0 }

// wait reports whether the time for the answer came before ctx ended.
func (a act) wait(ctx context.Context) bool {
	if !a.Hang && a.Delay <= 0 {
		return true
	}
	var due <-chan time.Time
	if !a.Hang {
		timer := time.NewTimer(time.Duration(a.Delay))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-due:
		return true
	case <-ctx.Done():
		return false
	}
}

// declared is the protocol version that a request names in its _meta.
func declared(meta map[string]json.RawMessage) (version string) {
	_ = json.Unmarshal(meta[mcp.MetaKeyProtocolVersion], &version) // absent: none
	return version
}
