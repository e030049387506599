package config

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mcp-candor/candor/vmcp"
)

var retryKey = about{name: "retry", kind: "object", standard: "from " + brief(vmcp.DefaultRetryInitial) + " to " + brief(vmcp.DefaultRetryMax), example: `{"initial": "2s", "max": "5m"}`,
	effect: "How long to wait before a server that failed is tried again: longer each time, with some jitter.",
	below:  abouts(retryTable),
	schema: objectSchema(abouts(retryTable))}

var retryTable = []key[vmcp.Retry]{
	wait(about{name: "initial", standard: brief(vmcp.DefaultRetryInitial), example: `"2s"`,
		effect: "Before the first new try. Not longer than max."},
		func(r *vmcp.Retry) *time.Duration { return &r.Initial }),
	wait(about{name: "max", standard: brief(vmcp.DefaultRetryMax), example: `"5m"`,
		effect: "Before any new try, and at once after a failure that only a person can mend, such as a refused login."},
		func(r *vmcp.Retry) *time.Duration { return &r.Max }),
}

func (r *reader) retry(e entry, s *Server) {
	readObject(r, e, retryTable, &s.Retry)
	if s.Retry.Initial > cmp.Or(s.Retry.Max, vmcp.DefaultRetryMax) {
		r.problem(e, `"initial" is longer than "max"`, fmt.Sprintf(`Make "max" the longer one; without it, it is %s.`, brief(vmcp.DefaultRetryMax)))
	}
}
