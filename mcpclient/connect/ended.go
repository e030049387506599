package connect

import (
	"github.com/mark3labs/mcp-go/client"
	"github.com/mcp-candor/candor/mcpclient"
)

// Ended returns a channel that is closed when the process behind a client that
// a connector opened has ended, whoever ended it. It is nil, and so never
// ready, for a client over another transport, where only a request can tell.
func Ended(c client.MCPClient) <-chan struct{} {
	opened, ok := mcpclient.As[*connection](c)
	if !ok {
		return nil
	}
	process, ok := opened.transport.(*stdioTransport)
	if !ok {
		return nil
	}
	return process.child.exited
}
