package status_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
)

// A session's report is the board's food, and the board is what the handler
// serves.
func ExampleHandler() {
	board := status.NewBoard("v1.2.3")
	board.Keep([]string{"files", "mail"}) // as configured
	board.Set(vmcp.Report{Backends: []vmcp.BackendReport{
		{ID: "mail", State: vmcp.Failed, Required: true, Reason: "connection refused"},
		{ID: "files", State: vmcp.Ready, Tools: 14},
	}})
	server := httptest.NewServer(status.Handler(board, status.Options{Endpoint: "/mcp"}))
	defer server.Close()
	defer board.Close() // first, so that no stream holds up the server

	answer, err := http.Get(server.URL + "/readyz")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.Status)
	fmt.Print(string(text))
	// Output:
	// 503 Service Unavailable
	// {
	//   "ready": false,
	//   "reasons": [
	//     "the required backend mail failed: connection refused"
	//   ]
	// }
}
