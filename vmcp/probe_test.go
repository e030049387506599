package vmcp_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProbe(t *testing.T) {
	t.Parallel()
	once := badserver.Tools("x").Once() // for the session
	tests := map[string]struct {
		protocol, capabilities string
		answers                answers
		asks                   string
		fails                  error
	}{
		"ping is answered":             {legacy, `{"tools":{}}`, answers{"tools/list": {once}}, "ping", nil},
		"ping is unknown: it answered": {legacy, `{"tools":{}}`, answers{"tools/list": {once}, "ping": {badserver.Fail(mcp.METHOD_NOT_FOUND, "no ping")}}, "ping", nil},
		"ping fails otherwise":         {legacy, `{"tools":{}}`, answers{"tools/list": {once}, "ping": {badserver.Fail(mcp.INTERNAL_ERROR, "no")}}, "ping", mcp.ErrInternalError},
		"no ping, tools answer":        {modern, `{"tools":{}}`, answers{"tools/list": {badserver.Tools("x")}}, "tools/list", nil},
		"no ping, tools fail":          {modern, `{"tools":{}}`, answers{"tools/list": {once, badserver.Fail(mcp.METHOD_NOT_FOUND, "gone")}}, "tools/list", mcp.ErrMethodNotFound},
		"no ping, no tools":            {modern, `{"prompts":{}}`, answers{"prompts/list": {badserver.Prompts()}}, "server/discover", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, w := range links {
				if w.protocol != tt.protocol {
					continue
				}
				backend, server := w.serve(t, "a", with(tt.capabilities, tt.answers))
				session := build(t, &vmcp.Builder{}, backend)
				before := len(asked(server))
				err := session.Probe(t.Context(), "a")
				if tt.fails == nil {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, tt.fails)
				}
				assert.Equal(t, []string{tt.asks}, asked(server)[before:], "one request")
			}
		})
	}
}

func TestProbeDoesNotTakeA503ForALife(t *testing.T) {
	t.Parallel()
	backend, _ := links[2].serve(t, "a", with(`{"tools":{}}`, answers{"tools/list": {badserver.Tools()},
		"ping": {badserver.Plain(503, `{"message":"unavailable"}`)}}))
	session := build(t, &vmcp.Builder{}, backend)
	var status *wire.StatusError
	require.ErrorAs(t, session.Probe(t.Context(), "a"), &status)
	assert.Equal(t, 503, status.StatusCode)
}
