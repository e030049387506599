package vmcp

import (
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/mcp-candor/candor/middleware"
)

// report says how things stand, given what the session had to leave out. A
// contradiction that a later call met is in it.
func (m *member) report(leftOut []LeftOut) BackendReport {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := BackendReport{
		ID: m.ID, State: Ready, Since: m.since, Target: m.Connector.String(), Required: m.Required, StaleSince: m.staleSince,
		Contradictions: m.promises(), FailedLists: slices.Clone(m.failed), LeftOut: slices.Clone(leftOut),
	}
	if m.server != nil {
		r.ServerName, r.ServerVersion, r.ProtocolVersion = m.server.ServerInfo.Name, m.server.ServerInfo.Version, m.server.ProtocolVersion
	}
	r.BugReport = bugReport(r.ServerName, r.ServerVersion, r.ProtocolVersion, findings(r.Contradictions))
	r.Tools, r.Resources, r.ResourceTemplates, r.Prompts =
		len(m.offer.Tools), len(m.offer.Resources), len(m.offer.Templates), len(m.offer.Prompts)
	r.PatternsWithoutMatch = m.Tools.withoutMatch(m.offer.Tools)
	switch m.phase {
	case joining:
		r.State, r.Reason, r.Remedy = Connecting, notYet, waitForIt
	case down:
		r.State, r.Reason, r.Remedy, r.Err = Failed, m.Connector.Mask(reasonOf(m.err)), remedyOf(m.err), m.err
		r.NextTry, r.Attempts = m.nextTry, m.attempts
	default:
		r.degrade(m.stale, m.expired, m.Connector.Mask)
	}
	return r
}

// unavailable says why the backend cannot be asked.
func (m *member) unavailable() error {
	report := m.report(nil)
	if m.life.Err() != nil {
		report.State, report.Reason, report.Remedy = Failed, "it no longer belongs to the session", "list what there is again"
	}
	return &UnavailableError{Kind: "backend", Name: m.ID, Backend: report}
}

// keepsResources says whether the backend promised resources and has kept that
// promise so far.
func (m *member) keepsResources() bool {
	if !capability.Resources.In(m.has()) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return !slices.ContainsFunc(m.contradictions, func(c middleware.Contradiction) bool { return c.Method == mcp.MethodResourcesList })
}

// completes says whether the backend has something to complete arguments of,
// and advertised that it does.
func (m *member) completes() bool {
	o := m.listing()
	return capability.Completions.In(m.has()) && len(o.Prompts)+len(o.Resources)+len(o.Templates) > 0
}

// logs says whether the backend advertises log messages.
func (m *member) logs() bool { return capability.Logging.In(m.has()) }

// promisesResources says whether it advertises resources, kept or not.
func (m *member) promisesResources() bool { return capability.Resources.In(m.has()) }

// subscribes says whether it advertises subscriptions.
func (m *member) subscribes() bool {
	subscribe, _ := capability.Of(mcp.MethodResourcesSubscribe)
	return subscribe.Promised(m.has())
}
