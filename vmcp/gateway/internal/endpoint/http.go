package endpoint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/internal/sse"
)

// ServeHTTP serves streamable HTTP at whatever path it is mounted. Who mounts it
// has checked [CheckOrigin] and who asks; see [WithIdentity].
func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	switch {
	case r.Method == http.MethodPost:
		e.post(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		methodNotAllowed(w, "GET, POST, DELETE", "an MCP endpoint takes POST, GET and DELETE")
	case isUnsupported(version):
		e.refuse(w, nil, refusal{http.StatusBadRequest, unsupported(version)})
	case mcp.IsModernProtocol(version):
		methodNotAllowed(w, "POST", "on this protocol there is only POST; subscribe with "+string(mcp.MethodSubscriptionsListen))
	case r.Method == http.MethodGet:
		e.get(w, r)
	default:
		e.delete(w, r)
	}
}

func methodNotAllowed(w http.ResponseWriter, allow, remedy string) {
	w.Header().Set("Allow", allow)
	http.Error(w, remedy, http.StatusMethodNotAllowed)
}

func (e *Endpoint) post(w http.ResponseWriter, r *http.Request) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		http.Error(w, "the Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return
	}
	m, err := e.read(w, r)
	if err != nil {
		e.refuse(w, m, err)
		return
	}
	from, err := e.senderOf(m, r)
	if err != nil {
		e.refuse(w, m, err)
		return
	}
	switch m.shape() {
	case notification:
		e.notified(r.Context(), from.client, m)
		w.WriteHeader(http.StatusAccepted)
	case answer:
		if !from.client.answered(m) {
			e.refuse(w, m, refusal{http.StatusBadRequest, &Failure{Code: mcp.INVALID_REQUEST, Message: "nothing was asked under this ID"}})
			return
		}
		w.WriteHeader(http.StatusAccepted)
	default:
		e.answer(w, r, from, m)
	}
}

// read reads the message of a POST.
func (e *Endpoint) read(w http.ResponseWriter, r *http.Request) (*message, error) {
	if err := readUntil(w, time.Now().Add(messageTimeout)); err != nil {
		return nil, unreadable(err)
	}
	var body bytes.Buffer
	if 0 < r.ContentLength && r.ContentLength <= 64<<10 { // more is believed when it is there
		body.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err := body.ReadFrom(http.MaxBytesReader(w, r.Body, e.Body)); err != nil {
		return nil, unreadable(err)
	}
	if err := readUntil(w, time.Time{}); err != nil {
		return nil, unreadable(err)
	}
	m, err := parse(body.Bytes())
	if err != nil {
		return m, refusal{http.StatusBadRequest, err}
	}
	return m, nil
}

// readUntil bounds the reading, where the server can do that.
func readUntil(w http.ResponseWriter, deadline time.Time) error {
	err := http.NewResponseController(w).SetReadDeadline(deadline)
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// answer answers a request over HTTP.
func (e *Endpoint) answer(w http.ResponseWriter, r *http.Request, from sender, m *message) {
	turn, err := e.admit(r.Context(), from.client, m)
	if err != nil {
		e.refuse(w, m, err)
		return
	}
	defer turn.done()
	out := newResponse(w, r, e.Logger, turn.cancel)
	if from.opens {
		if err := e.keep(from.client); err != nil {
			e.refuse(w, m, err)
			return
		}
		out.session = from.client.id
	}
	asked := newRequest(turn.ctx, from, m, out)
	asked.Header, asked.ending = r.Header, e.ending.Done()
	answered := e.serve(turn.ctx, asked)
	if from.opens && answered.code != 0 {
		out.session = ""
		e.endSession(from.client, errGone)
	}
	if err := out.answer(statusOf(answered.code, from.client), answered.body); err != nil && r.Context().Err() == nil {
		e.Logger.WarnContext(turn.ctx, "an answer could not be written", events.KeyEvent, events.AnswerLost, events.KeyMethod, m.Method, events.KeyError, err.Error())
	}
}

// refusal is a failure with its HTTP status.
type refusal struct {
	status int
	error
}

func (r refusal) Unwrap() error { return r.error }

func unreadable(err error) error {
	if tooLong, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return refusal{http.StatusRequestEntityTooLarge, &Failure{Code: mcp.INVALID_REQUEST, Message: fmt.Sprintf("the message is longer than %d bytes", tooLong.Limit)}}
	}
	return refusal{http.StatusBadRequest, &Failure{Code: mcp.PARSE_ERROR, Message: "the message could not be read: " + err.Error()}}
}

// refuse answers a message that no handler sees.
func (e *Endpoint) refuse(w http.ResponseWriter, m *message, err error) {
	answered := errorReply(m.replyID(), err)
	status := http.StatusBadRequest
	refused, ok := errors.AsType[refusal](err)
	switch {
	case ok:
		status = refused.status
	case errors.Is(err, errGone):
		status = http.StatusNotFound
	case answered.code == overloaded:
		status = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	}
	_ = newWriter(w).json(status, answered.body) // a client that has left needs no refusal
}

// get streams what belongs to no request until the client leaves, its session
// ends or the endpoint is shut down.
func (e *Endpoint) get(w http.ResponseWriter, r *http.Request) {
	client, err := e.sessionOf(r)
	if err != nil {
		e.refuse(w, nil, err)
		return
	}
	out := newWriter(w)
	switch {
	case !accepts(r, sse.MediaType):
		http.Error(w, "the Accept header must have text/event-stream", http.StatusNotAcceptable)
		return
	case !out.CanStream():
		methodNotAllowed(w, "POST, DELETE", "this server cannot stream")
		return
	}
	if err := e.claim(e.streams); err != nil {
		e.refuse(w, nil, err)
		return
	}
	defer func() { <-e.streams }()
	defer client.listen()()
	e.stream(r.Context(), client, out)
}

func (e *Endpoint) stream(ctx context.Context, client *Client, out writer) {
	box, ok := client.out.(*outbox)
	if !ok {
		return
	}
	if out.Open(); out.Beat() != nil {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(e.ending, stop)()
	defer context.AfterFunc(client.life, stop)()
	_ = out.follow(box, ctx.Done()) // what could not be written waits for the next stream
}

func (e *Endpoint) delete(w http.ResponseWriter, r *http.Request) {
	client, err := e.sessionOf(r)
	if err != nil {
		e.refuse(w, nil, err)
		return
	}
	e.endSession(client, errGone)
	w.WriteHeader(http.StatusNoContent)
}
