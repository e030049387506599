package badserver_test

import (
	"context"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/mcp-candor/candor/badserver"
)

func TestRequestsAreCopies(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	_, err := post(t, listen(t, s), `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, "X-Test", "before")
	require.NoError(t, err)
	first := s.Requests()
	first[0].Method = "x"
	first[0].Header.Set("X-Test", "after")
	first[0].ID[0], first[0].Params[0], first[0].Message[0] = 'x', 'x', 'x'
	second := s.Requests()
	assert.Equal(t, "ping", second[0].Method)
	assert.Equal(t, "before", second[0].Header.Get("X-Test"))
	assert.JSONEq(t, `1`, string(second[0].ID))
	assert.JSONEq(t, `{}`, string(second[0].Params))
	assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}`, string(second[0].Message))
}

func TestAwait(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{})
	tr := dialInprocess(t, s)
	waited := make(chan error, 1)
	go func() { waited <- s.Await(soon(t), "ping", 2) }()
	require.NoError(t, call(soon(t), tr))
	require.Empty(t, waited)
	require.NoError(t, call(soon(t), tr))
	require.NoError(t, receive(t, waited))
	require.NoError(t, s.Await(context.Background(), "ping", 2), "what has come already counts")
	require.ErrorIs(t, s.Await(brief(t), "ping", 3), context.Canceled)
}

func TestTimesIsCountedOverAllConnections(t *testing.T) {
	t.Parallel()
	s := badserver.New(badserver.Script{Answers: on("tools/list",
		badserver.Answer{Result: badserver.Tools("a").Result, Times: 10}, badserver.Tools("b"))})
	var group sync.WaitGroup
	names := make(chan string, 40)
	for _, w := range everywhere {
		c := start(t, w.dial(t, s))
		initialize(t, c)
		for range 10 {
			group.Go(func() {
				tools, err := c.ListTools(soon(t), mcp.ListToolsRequest{})
				if assert.NoError(t, err) {
					names <- tools.Tools[0].Name
				}
				s.Notify(notification("news"))
				s.Requests()
			})
		}
	}
	group.Wait()
	close(names)
	count := map[string]int{}
	for name := range names {
		count[name]++
	}
	assert.Equal(t, map[string]int{"a": 10, "b": 30}, count)
	assert.Equal(t, 40, s.Count("tools/list"))
}
