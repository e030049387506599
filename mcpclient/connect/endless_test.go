//go:build unix

package connect_test

import (
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/require"
)

func TestAServerWhoseLineNeverEndsIsCutOff(t *testing.T) {
	t.Parallel()
	_, err := connect.Open(t.Context(), connect.Stdio{Command: "cat", Args: []string{"/dev/zero"}})
	require.ErrorIs(t, err, transport.ErrTransportClosed)
	var tooLong *wire.BodyTooLargeError
	require.ErrorAs(t, err, &tooLong)
}
