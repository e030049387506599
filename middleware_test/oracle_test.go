package middleware_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
)

// This file is the rule of tolerance, written a second time: as tables of
// what may come, from the rule's own words and not from the code. It knows
// nothing of chains, clients and errors; oracle_property_test.go compares it
// with them.

// scene is a server and what its client asks of it.
type scene struct {
	modern       bool   // protocol 2026-07-28
	http         bool   // else there is no HTTP status
	session      bool   // the server hands out a session; legacy HTTP only
	capabilities string // the raw JSON of the handshake, empty for {}
	utilities    bool   // middleware.WithUtilities
	replies      map[string][]sceneReply
	asks         []sceneCall
	reached      func(rule string) // is told which rows were used, if there is one
}

// sceneCall is one call of a client: for a whole list from a page on, or for
// that page alone. Methods without pages have page 0 only.
type sceneCall struct {
	method string
	whole  bool
	page   int
}

// sceneReply is what the server does when it is asked for one page. A list, or
// what stands in its place, has a cursor to the next page unless it is the last.
type sceneReply struct {
	shape   string
	entries names  // of a list
	raw     string // the result that is no list, or the whole body
	code    int
	message string
	status  int  // over HTTP; 0 is what the protocol wants
	foreign bool // answers another request's id
	// stateless: on a protocol that has no sessions.
	stateless bool
	stream    bool // is an event stream; status 0 only
}

// The shapes of a reply.
const (
	shapeList    = "list"             // a list, perhaps an empty one
	shapeNoList  = "result, no list"  // {}, null, an error in the result
	shapeGarbage = "result, no sense" // a list that is a number
	shapeFine    = "result"           // of a method that is no list
	shapeError   = "JSON-RPC error"
	shapeUnknown = "unknown method" // the server's own -32601, as its protocol wants it
	shapeText    = "error that is a text"
	shapePlain   = "no JSON-RPC"
	shapeCut     = "half an answer"
	shapeSilent  = "no answer" // until the caller gives up
)

// ruling is what the caller of one call gets, and what is said about it.
type ruling struct {
	entries names
	// failure is the class of the error: a JSON-RPC code that the protocols
	// name, "HTTP <status>", or one of the constants below.
	failure  string
	broken   string // the event of the ContradictionError
	received names  // by the PartialListError
	requests int
	said     []string // level and event of each record about a contradiction
}

// The classes of an error that have no number.
const (
	classGone         = "the session is gone"
	classUnauthorized = "unauthorized"
	classCancelled    = "cancelled"
	classMalformed    = "malformed list"
	classOther        = "other"
)

const classMethodNotFound = "-32601"

// heardReply is what of a reply reaches the client.
type heardReply struct {
	entries names
	failure string
	noList  bool
}

// wireRules are what a reply means; the first that holds counts.
var wireRules = []struct {
	rule string
	when func(r sceneReply) bool
	then func(r sceneReply) heardReply
}{
	{
		"a caller that gives up gets its own reason",
		func(r sceneReply) bool { return r.shape == shapeSilent },
		alwaysClass(classCancelled),
	}, {
		"a transport error, or a body that cannot be decoded, is an error",
		func(r sceneReply) bool { return r.shape == shapeCut },
		alwaysClass(classOther),
	}, {
		"401 is for the login, whatever it says",
		func(r sceneReply) bool { return r.status == 401 },
		alwaysClass(classUnauthorized),
	}, {
		"404 with a -32601 for this request's id: there is no such method",
		func(r sceneReply) bool { return r.status == 404 && r.failure() == classMethodNotFound && !r.foreign },
		alwaysClass(classMethodNotFound),
	}, {
		"any other 404 on a protocol without sessions is its status",
		func(r sceneReply) bool { return r.status == 404 && r.stateless },
		func(r sceneReply) heardReply { return heardReply{failure: r.httpFailure()} },
	}, {
		"429 is HTTP's own word, whatever it says",
		func(r sceneReply) bool { return r.status == 429 },
		func(r sceneReply) heardReply { return heardReply{failure: r.httpFailure()} },
	}, {
		"any other 404: the session is gone",
		func(r sceneReply) bool { return r.status == 404 },
		alwaysClass(classGone),
	}, {
		"-32601 inside a 403 or a 5xx (501 aside) stays an error",
		func(r sceneReply) bool {
			return r.failure() == classMethodNotFound && (r.status == 403 || r.status >= 500 && r.status != 501)
		},
		func(r sceneReply) heardReply { return heardReply{failure: r.httpFailure()} },
	}, {
		"any other JSON-RPC error is itself, under any status",
		func(r sceneReply) bool { return r.failure() != "" },
		func(r sceneReply) heardReply { return heardReply{failure: r.failure()} },
	}, {
		"a failure that is no JSON-RPC error is its status",
		func(r sceneReply) bool { return r.status >= 400 },
		func(r sceneReply) heardReply { return heardReply{failure: r.httpFailure()} },
	}, {
		"a body that cannot be decoded is an error",
		func(r sceneReply) bool { return r.shape == shapePlain || r.shape == shapeGarbage },
		alwaysClass(classOther),
	}, {
		"{}, null and an error inside the result are no list",
		func(r sceneReply) bool { return r.shape == shapeNoList },
		func(sceneReply) heardReply { return heardReply{noList: true} },
	}, {
		"a list is a list",
		func(sceneReply) bool { return true },
		func(r sceneReply) heardReply { return heardReply{entries: r.entries} },
	},
}

func alwaysClass(class string) func(sceneReply) heardReply {
	return func(sceneReply) heardReply { return heardReply{failure: class} }
}

func (r sceneReply) httpFailure() string { return fmt.Sprintf("HTTP %d", r.status) }

// failure is the class of a reply's JSON-RPC error. The protocols name a few
// codes, the others have no class of their own.
func (r sceneReply) failure() string {
	switch r.shape {
	case shapeUnknown:
		return classMethodNotFound
	case shapeText:
		return "-32603" // a text has no code
	case shapeError:
		if slices.Contains([]int{-32700, -32600, -32601, -32602, -32603, -32800, -32002}, r.code) {
			return strconv.Itoa(r.code)
		}
		return classOther
	}
	return ""
}

// hears is the wire: without HTTP there is no status, and an unknown method
// has the one that its protocol wants.
func (s scene) hears(r sceneReply) heardReply {
	switch {
	case !s.http:
		r.status, r.foreign = 0, false
	case s.modern && r.shape == shapeUnknown:
		r.status = 404
	}
	r.stateless = s.modern
	for _, row := range wireRules { // the last is for all
		if row.when(r) {
			s.reach(row.rule)
			return row.then(r)
		}
	}
	return heardReply{}
}

func (s scene) reach(rule string) {
	if s.reached != nil {
		s.reached(rule)
	}
}

// ruledReply is what the rule of tolerance looks at.
type ruledReply struct {
	method     string
	advertised bool
	first      bool // the first page
	utilities  bool
	heardReply
}

func (q ruledReply) missing(methods ...string) bool {
	return q.failure == classMethodNotFound && slices.Contains(methods, q.method)
}

// The verdicts of the rule.
const (
	verdictForgiven  = "an empty list and a WARN"
	verdictUnchanged = "what came"
	verdictBroken    = "an error that is also a contradiction, and a WARN"
)

// toleranceRules are the table of the rule; the first row that holds counts.
var toleranceRules = []struct {
	rule string
	when func(ruledReply) bool
	then string
}{
	{
		"-32601 on a later page: the server has the method",
		func(q ruledReply) bool { return q.failure == classMethodNotFound && !q.first },
		verdictUnchanged,
	}, {
		"-32601 on the first page of a list that was advertised",
		func(q ruledReply) bool {
			return q.missing("resources/list", "resources/templates/list", "prompts/list") && q.advertised
		},
		verdictForgiven,
	}, {
		"-32601 on tools/list, advertised",
		func(q ruledReply) bool { return q.missing("tools/list") && q.advertised },
		verdictBroken,
	}, {
		"-32601 on completion/complete or logging/setLevel, advertised, if the caller opted in",
		func(q ruledReply) bool {
			return q.missing("completion/complete", "logging/setLevel") && q.advertised && q.utilities
		},
		verdictForgiven,
	}, {
		"any other failure",
		func(q ruledReply) bool { return q.failure != "" },
		verdictUnchanged,
	}, {
		"no list from tools",
		func(q ruledReply) bool { return q.noList && q.method == "tools/list" },
		verdictBroken,
	}, {
		"no list from resources or prompts",
		func(q ruledReply) bool { return q.noList },
		verdictForgiven,
	}, {
		"a list",
		func(ruledReply) bool { return true },
		verdictUnchanged,
	},
}

func (s scene) verdict(q ruledReply) string {
	for _, row := range toleranceRules { // the last is for all
		if row.when(q) {
			s.reach(row.rule)
			return row.then
		}
	}
	return ""
}

// promiseOf says whose promise a method is.
var promiseOf = map[string]string{
	"tools/list":               "tools",
	"resources/list":           "resources",
	"resources/templates/list": "resources",
	"resources/subscribe":      "resources",
	"prompts/list":             "prompts",
	"completion/complete":      "completions",
	"logging/setLevel":         "logging",
}

// advertised reads the promise from the raw handshake: {} is one, null is none.
func (s scene) advertised(method string) bool {
	var promises map[string]json.RawMessage
	_ = json.Unmarshal([]byte(s.capabilities), &promises) // what is empty has none
	promise, made := promises[promiseOf[method]]
	return made && string(promise) != "null"
}

// rulings are those of all calls, in their order.
func (s scene) rulings() []ruling {
	var all []ruling
	aloud, ended := map[string]bool{}, false
	for _, a := range s.asks {
		if ended {
			all = append(all, ruling{failure: classGone})
			continue
		}
		got := s.ruling(a)
		for i, event := range got.said {
			level := "WARN" // once for each client, method and event
			if aloud[a.method+event] {
				level = "DEBUG"
			}
			aloud[a.method+event] = true
			got.said[i] = level + " " + event
		}
		ended = got.failure == classGone && s.session && !s.modern
		all = append(all, got)
	}
	return all
}

// ruling walks over the pages that one call needs.
func (s scene) ruling(a sceneCall) ruling {
	var got ruling
	for page := a.page; ; page++ {
		got.requests++
		r := s.replies[a.method][page]
		h := s.hears(r)
		q := ruledReply{a.method, s.advertised(a.method), page == 0, s.utilities, h}
		verdict := s.verdict(q)
		if verdict != verdictUnchanged {
			got.said = append(got.said, eventOf(h))
		}
		if verdict == verdictBroken {
			got.broken = eventOf(h)
		}
		if h.noList {
			h.failure = classMalformed
		}
		if verdict == verdictForgiven {
			h.failure, h.entries = "", forgivenEntries(a.method)
		}
		if h.failure != "" {
			if page > a.page {
				got.received = got.entries
			}
			got.entries, got.failure = nil, h.failure
			return got
		}
		if got.entries == nil {
			got.entries = h.entries
		} else {
			got.entries = append(slices.Clone(got.entries), h.entries...)
		}
		if !a.whole || page == len(s.replies[a.method])-1 || r.shape != shapeList && r.shape != shapeNoList {
			return got
		}
	}
}

func eventOf(h heardReply) string {
	if h.noList {
		return "malformed_list"
	}
	return "capability_contradiction"
}

// forgivenEntries are what a forgiven call returns: an empty list and never a nil one,
// where the method has a list.
func forgivenEntries(method string) names {
	if method == string(mcp.MethodSetLogLevel) {
		return nil
	}
	return names{}
}
