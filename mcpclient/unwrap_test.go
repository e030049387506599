package mcpclient_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mcp-candor/candor/mcpclient"
	"github.com/stretchr/testify/assert"
)

// decorator is a client of somebody else's around another one.
type decorator struct{ client.MCPClient }

func (d *decorator) Unwrap() client.MCPClient { return d.MCPClient }

// opaque is one that says nothing about what is inside.
type opaque struct{ client.MCPClient }

func TestAsFindsTheFirstClientOfAType(t *testing.T) {
	t.Parallel()
	type calledTwice interface{ calls() []received }
	inner := &fake{}
	foreign := &decorator{mcpclient.Wrap(inner, pass)}
	outer := mcpclient.Wrap(foreign, pass)

	assert.Same(t, foreign, outer.Unwrap())

	found, ok := mcpclient.As[*fake](outer)
	assert.True(t, ok, "a concrete type, three layers down")
	assert.Same(t, inner, found)

	wrapper, ok := mcpclient.As[*mcpclient.Client](outer)
	assert.True(t, ok, "the client itself comes first")
	assert.Same(t, outer, wrapper)

	between, ok := mcpclient.As[*decorator](outer)
	assert.True(t, ok, "a layer between")
	assert.Same(t, foreign, between)

	recording, ok := mcpclient.As[calledTwice](outer)
	assert.True(t, ok, "an interface")
	assert.Same(t, inner, recording)
}

func TestAsFindsNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]client.MCPClient{
		"no layer is of the type":      mcpclient.Wrap(&decorator{&fake{}}),
		"a layer says nothing of more": mcpclient.Wrap(&opaque{inProcess(t)}),
		"a layer with nothing inside":  mcpclient.Wrap(&decorator{}),
		"nil":                          nil,
	} {
		found, ok := mcpclient.As[*client.Client](c)
		assert.False(t, ok, name)
		assert.Nil(t, found, name)
	}
}

func TestWhatAsFindsBypassesTheChain(t *testing.T) {
	t.Parallel()
	var seen recorder
	inner, _ := mcpclient.As[*fake](mcpclient.Wrap(&fake{}, seen.middleware))

	assert.NoError(t, inner.Ping(t.Context()))
	assert.Len(t, inner.calls(), 1)
	assert.Empty(t, seen.calls())
}
