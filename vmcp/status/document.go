package status

import (
	"fmt"
	"time"

	"github.com/mcp-candor/candor/vmcp"
)

// A Document is what GET /status answers, as JSON. docs/status.md describes each
// field; fields are added, never renamed.
type Document struct {
	Version   string               `json:"version"`   // of the program
	StartedAt time.Time            `json:"startedAt"` // when it started
	State     vmcp.State           `json:"state"`     // of all backends together
	Sessions  int                  `json:"sessions"`  // how many there are now
	Backends  []vmcp.BackendReport `json:"backends"`  // in configured order
}

// A Readiness is what GET /readyz answers, as JSON.
type Readiness struct {
	Ready   bool     `json:"ready"`
	Reasons []string `json:"reasons,omitempty"` // why not
}

// Readiness says whether callers can be sent here: at least one backend serves,
// and none that is required failed.
func (d Document) Readiness() Readiness {
	var reasons []string
	if !serves(d.Backends) {
		reasons = append(reasons, "no backend serves")
	}
	for _, b := range d.Backends {
		if b.Required && b.State == vmcp.Failed {
			reasons = append(reasons, fmt.Sprintf("the required backend %s failed: %s", b.ID, b.Reason))
		}
	}
	return Readiness{Ready: len(reasons) == 0, Reasons: reasons}
}

// overall is the state of all backends together: ready and failed are said of all of
// them (failed of a required one as well), connecting while none serves yet.
func overall(backends []vmcp.BackendReport) vmcp.State {
	count := map[vmcp.State]int{}
	requiredFailed := false
	for _, b := range backends {
		count[b.State]++
		requiredFailed = requiredFailed || b.Required && b.State == vmcp.Failed
	}
	switch all := len(backends); {
	case requiredFailed || all > 0 && count[vmcp.Failed] == all:
		return vmcp.Failed
	case !serves(backends):
		return vmcp.Connecting
	case count[vmcp.Ready] == all:
		return vmcp.Ready
	default:
		return vmcp.Degraded
	}
}

func serves(backends []vmcp.BackendReport) bool {
	for _, b := range backends {
		if b.State == vmcp.Ready || b.State == vmcp.Degraded {
			return true
		}
	}
	return false
}
