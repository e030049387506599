package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// orderly is a server over pipes that deals with one message after the other. A
// call of its tool "ask" asks the caller who it is. Changed roots make it ask for
// them, outside any call, and it does nothing else until that is answered.
type orderly struct {
	told chan said // answers about roots, and cancellations
}

func (o orderly) Dial(context.Context) (transport.Interface, error) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	go func() {
		defer func() { _ = out.Close() }()
		o.serve(json.NewDecoder(in), json.NewEncoder(out))
	}()
	return transport.NewIO(fromServer, toServer, nil), nil
}

func (o orderly) serve(in *json.Decoder, out *json.Encoder) {
	callers := map[string]json.RawMessage{} // the call that a question is about
	for {
		var m said
		if in.Decode(&m) != nil {
			return
		}
		send := func(fields object) { fields["jsonrpc"] = "2.0"; _ = out.Encode(fields) } //nolint:errchkjson // to a pipe of this test
		answer := func(result object) { send(object{"id": m.ID, "result": result}) }
		var params struct{ Name string }
		_ = json.Unmarshal(m.Params, &params)
		switch {
		case m.isAnswer() && string(m.ID) == `"roots"`:
			o.told <- m
		case m.isAnswer():
			m.ID = callers[string(m.ID)]
			answer(object{"content": []any{object{"type": "text", "text": "asked: " + string(m.Result)}}})
		case m.Method == "initialize":
			answer(object{"protocolVersion": legacy, "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "orderly", "version": "1"}})
		case m.Method == "tools/list":
			answer(object{"tools": []any{object{"name": "ask", "inputSchema": object{"type": "object"}}, object{"name": "run", "inputSchema": object{"type": "object"}}}})
		case m.Method == "tools/call" && params.Name == "ask":
			question := "q" + string(m.ID)
			callers[`"`+question+`"`] = m.ID
			send(object{"id": question, "method": "elicitation/create", "params": object{"message": "who?", "requestedSchema": object{"type": "object", "properties": object{}}}})
		case m.Method == "tools/call":
			answer(object{"content": []any{object{"type": "text", "text": "ran"}}})
		case m.Method == "notifications/roots/list_changed":
			send(object{"id": "roots", "method": "roots/list"})
			for m.Method != "" || string(m.ID) != `"roots"` {
				if m = (said{}); in.Decode(&m) != nil {
					return
				}
			}
			o.told <- m
		case m.Method == "notifications/cancelled":
			o.told <- m
		case len(m.ID) > 0:
			answer(object{})
		}
	}
}

// abandoned is a gateway in front of an orderly server, a call that waits for
// input of a client which does not come back, and another client of its session.
func abandoned(t *testing.T) (o orderly, gone *pipe, waits needed, other *pipe) {
	t.Helper()
	o = orderly{make(chan said, 10)}
	g := over(t, &vmcp.Builder{}, []vmcp.Backend{{ID: "o", Connector: connect.To(o, connect.WithProtocolVersion(legacy))}})
	gone = plug(t, g, asker)
	waits = need(t, gone.call("o_ask"))
	return o, gone, waits, plug(t, g, who{protocol: legacy, can: everything})
}

func TestAQuestionOutsideAnyCallDoesNotWaitForAClientThatHasGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, gone, waits, other := abandoned(t)
		began := time.Now()
		other.tell("notifications/roots/list_changed", object{})
		refused := <-o.told
		require.NotNil(t, refused.Error, "nobody is there who could be asked")
		assert.Contains(t, refused.Error.Message, vmcp.ErrNoPeer.Error())
		assert.Equal(t, "ran", other.call("o_run").text(t), "and its messages are dealt with")
		assert.Equal(t, began, time.Now())
		answer := gone.ask("tools/call", again("o_ask", waits.RequestState, object{"1": answersTo["elicitation/create"]}))
		assert.Contains(t, answer.text(t), `"name":"ann"`, "the call that waits is as it was")
	})
}

// Nothing of the call is asked any more, but its client does not know that yet.
func TestAQuestionOutsideAnyCallDoesNotWaitForAClientThatIsNotBackYet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, asked, session := curious(), make(chan error, 1), make(chan server.ClientSession, 1)
		s.AddTool(mcp.NewTool("on"), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			session <- server.ClientSessionFromContext(ctx)
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			_, err := s.RequestElicitation(short, mcp.ElicitationRequest{Params: mcp.ElicitationParams{Message: "quick?", RequestedSchema: object{"type": "object"}}})
			<-ctx.Done()
			return nil, err
		})
		s.AddNotificationHandler("notifications/roots/list_changed", func(ctx context.Context, _ mcp.JSONRPCNotification) {
			_, err := s.RequestRoots(s.WithContext(ctx, <-session), mcp.ListRootsRequest{})
			asked <- err
		})
		g := asking(t, connect.InProcess{Server: s})
		need(t, plug(t, g, asker).call("c_on"))
		<-time.After(2 * time.Second)
		began := time.Now()
		plug(t, g, who{protocol: legacy, can: everything}).tell("notifications/roots/list_changed", object{})
		require.ErrorIs(t, <-asked, vmcp.ErrNoPeer)
		assert.Equal(t, began, time.Now())
	})
}

func TestACallThatWaitsInVainForInputIsCancelledAtItsBackend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, gone, waits, other := abandoned(t)
		began := time.Now()
		assert.Equal(t, "ran", other.call("o_run").text(t), "what waits holds up nothing")
		for ended := (said{}); ended.Method != "notifications/cancelled"; {
			ended = <-o.told
		}
		assert.Equal(t, 10*time.Minute, time.Since(began), "longer than a call may take otherwise")
		late := gone.ask("tools/call", again("o_ask", waits.RequestState, object{"1": answersTo["elicitation/create"]}))
		assert.Contains(t, late.text(t), "did not answer what the backend asked within 10m0s")
	})
}

// The time of the person is not the backend's.
func TestTheTimeOutOfACallStandsStillWhileItsClientIsAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := plug(t, asking(t, askers["in-process"](t)), asker)
		first := need(t, p.call("c_twice"))
		<-time.After(9 * time.Minute)
		second := need(t, p.ask("tools/call", again("c_twice", first.RequestState, object{"1": answersTo["elicitation/create"]})))
		<-time.After(9 * time.Minute)
		answer := p.ask("tools/call", again("c_twice", second.RequestState, object{"1": answersTo["elicitation/create"]}))
		assert.NotContains(t, string(answer.Result), `"isError":true`)
	})
}
