package gateway_test

import (
	"context"
	"testing"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway"
	"github.com/stretchr/testify/assert"
)

func TestOptionsThatSayNothingHaveTheDefaults(t *testing.T) {
	t.Parallel()
	g := gateway.New(&vmcp.Builder{}, nil, gateway.Options{})
	assert.Equal(t, gateway.DefaultIdle, g.Idle)
	assert.Equal(t, gateway.DefaultSessions, g.Sessions)
	assert.Equal(t, gateway.DefaultCalls, g.Calls)
	assert.EqualValues(t, gateway.DefaultBody, g.Body)
	assert.NotNil(t, g.Logger)
	assert.NoError(t, g.Shutdown(context.Background()))
}
