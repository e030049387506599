package gateway_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/stretchr/testify/assert"
)

// goldenID is the ID of the golden backend, which the gateway puts before its
// names.
const goldenID = "g"

// goldenQuestions are what is asked, by a name of their own. "NAME " before
// a name is for where the gateway puts its prefix.
var goldenQuestions = map[string]struct {
	method string
	params map[string]any
}{
	"tools":         {"tools/list", map[string]any{}},
	"prompts":       {"prompts/list", map[string]any{}},
	"resources":     {"resources/list", map[string]any{}},
	"templates":     {"resources/templates/list", map[string]any{}},
	"call":          {"tools/call", map[string]any{"name": "NAME typed"}},
	"call-raw":      {"tools/call", map[string]any{"name": "NAME raw", "arguments": goldenArguments, "_meta": goldenMeta}},
	"call-failing":  {"tools/call", map[string]any{"name": "NAME failing"}},
	"call-erring":   {"tools/call", map[string]any{"name": "NAME erring"}},
	"call-listing":  {"tools/call", map[string]any{"name": "NAME listing"}},
	"call-counting": {"tools/call", map[string]any{"name": "NAME counting"}},
	"call-unknown":  {"tools/call", map[string]any{"name": "NAME unknown"}},
	"get":           {"prompts/get", map[string]any{"name": "NAME typed", "arguments": map[string]any{"one": "<1>", "two": "é"}, "_meta": goldenMeta}},
	"get-erring":    {"prompts/get", map[string]any{"name": "NAME erring"}},
	"get-unknown":   {"prompts/get", map[string]any{"name": "NAME unknown"}},
	"read":          {"resources/read", map[string]any{"uri": "golden://typed"}},
	"read-template": {"resources/read", map[string]any{"uri": "golden://echo/1%2F2", "_meta": goldenMeta}},
	"read-erring":   {"resources/read", map[string]any{"uri": "golden://erring"}},
	"read-unknown":  {"resources/read", map[string]any{"uri": "golden://unknown"}},
	"complete-prompt": {"completion/complete", map[string]any{
		"ref": map[string]any{"type": "ref/prompt", "name": "NAME typed"}, "argument": goldenArgument, "context": goldenContext,
	}},
	"complete-template": {"completion/complete", map[string]any{
		"ref": map[string]any{"type": "ref/resource", "uri": "golden://echo/{id}"}, "argument": goldenArgument, "context": goldenContext,
	}},
}

var (
	goldenArguments = map[string]any{
		"name": "a<&>é", "region": "eu", "count": json.Number("9007199254740993"), "small": json.Number("1.50"), "null": nil,
		"open": map[string]any{"list": []any{true, map[string]any{}, []any{}}},
	}
	goldenMeta     = map[string]any{"example.com/mine": map[string]any{"large": json.Number("9007199254740993"), "null": nil}, "progressToken": "token"}
	goldenArgument = map[string]any{"name": "two", "value": "v"}
	goldenContext  = map[string]any{"arguments": map[string]any{"one": "1"}}
)

// goldenLosses are what a client does not see through a gateway as it would
// directly: a pattern for the places, and why.
var goldenLosses = []struct{ places, why string }{
	{`_meta\.io\.modelcontextprotocol/serverInfo`, "the gateway is the server, and says so"},
	{`error\.message: .* -> "backend \\"g\\"`, "an error names the backend that it comes from"},
	{`error\.message: .* 'unknown' .*unknown (tool|prompt) \\"g_unknown\\"`, "the gateway has nothing of that name, and says so in its words"},
	{` (tools|prompts|resources|templates)\.result\._meta`, "a list is put together from those of all backends: there is no one _meta of it"},
	{`\.(ttlMs|cacheScope):`, "the gateway's lists are its own, and may change at any time"},
	{` tools\.result\.tools\.\w+\.execution`, "tasks are not handed on"},
	{`(large|minimum): 9007199254740993 -> 9007199254740992`, "mcp-go decodes numbers as float64, but for arguments and structured content"},
	{`\\"progressToken\\":\\"token\\"}" -> "\{\\"(arguments|meta)\\":.*\\"example.com/mine\\":`, "the session gives each call a progress token of its own, and hands progress back under the caller's"},
}

// What a client sees of a server through a gateway is what it sees directly,
// in every field.
func TestGoldenEveryFieldPassesUnharmed(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	used := map[string]bool{}
	t.Run("ways", func(t *testing.T) {
		everyWay(t, func(t *testing.T, w way) {
			backend := goldenEndpoint(t)
			direct, through := w.goldenDirect(t, backend), w.goldenThrough(t, backend)
			var unexplained []string
			for _, name := range slices.Sorted(maps.Keys(goldenQuestions)) {
				question := goldenQuestions[name]
				want := direct.ask(question.method, named(question.params, ""))
				got := through.ask(question.method, named(question.params, goldenID+"_"))
				for _, difference := range differences(name, want, unnamed(got)) {
					loss, ok := explained(w.name + " " + difference)
					if !ok {
						unexplained = append(unexplained, difference)
					}
					mu.Lock()
					used[loss] = true
					mu.Unlock()
				}
			}
			assert.Empty(t, unexplained, "%s:\n%s", w.name, strings.Join(unexplained, "\n"))
		})
	})
	for _, loss := range goldenLosses {
		assert.Truef(t, used[loss.places], "%s (%s) is lost no more: delete it from goldenLosses", loss.places, loss.why)
	}
}

// explained finds the loss that a difference is.
func explained(difference string) (string, bool) {
	for _, loss := range goldenLosses {
		if regexp.MustCompile(loss.places).MatchString(difference) {
			return loss.places, true
		}
	}
	return "", false
}

// named puts the prefix where "NAME " stands.
func named(params map[string]any, prefix string) map[string]any {
	return mapped(params, func(text string) string {
		if rest, ok := strings.CutPrefix(text, "NAME "); ok {
			return prefix + rest
		}
		return text
	}).(map[string]any)
}

// unnamed takes the prefix away where a list has names.
func unnamed(answer map[string]any) map[string]any {
	result, _ := answer["result"].(map[string]any)
	for _, list := range []string{"tools", "prompts"} {
		items, _ := result[list].([]any)
		for _, item := range items {
			item := item.(map[string]any)
			item["name"] = strings.TrimPrefix(item["name"].(string), goldenID+"_")
		}
	}
	return answer
}

// mapped replaces every string value.
func mapped(value any, replace func(string) string) any {
	switch value := value.(type) {
	case string:
		return replace(value)
	case map[string]any:
		copied := make(map[string]any, len(value))
		for key, inner := range value {
			copied[key] = mapped(inner, replace)
		}
		return copied
	default:
		return value
	}
}

// differences are the places where got is not want, with both values.
func differences(place string, want, got any) []string {
	switch wanted := want.(type) {
	case map[string]any:
		if given, ok := got.(map[string]any); ok {
			return objectDifferences(place, wanted, given)
		}
	case []any:
		if given, ok := got.([]any); ok && len(given) == len(wanted) {
			return listDifferences(place, wanted, given)
		}
	}
	if reflect.DeepEqual(want, got) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s -> %s", place, jsonOf(want), jsonOf(got))}
}

func objectDifferences(place string, want, got map[string]any) []string {
	keys := map[string]bool{}
	for key := range want {
		keys[key] = true
	}
	for key := range got {
		keys[key] = true
	}
	var all []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		wanted, inWant := want[key]
		given, inGot := got[key]
		switch {
		case !inWant:
			all = append(all, fmt.Sprintf("%s.%s: nothing -> %s", place, key, jsonOf(given)))
		case !inGot:
			all = append(all, fmt.Sprintf("%s.%s: %s -> nothing", place, key, jsonOf(wanted)))
		default:
			all = append(all, differences(place+"."+key, wanted, given)...)
		}
	}
	return all
}

// listDifferences compares item by item; a list of things with names is sorted
// by them.
func listDifferences(place string, want, got []any) []string {
	want, got = byName(want), byName(got)
	var all []string
	for i := range want {
		item := fmt.Sprint(i)
		if name := nameOf(want[i]); name != "" && name == nameOf(got[i]) {
			item = name
		}
		all = append(all, differences(place+"."+item, want[i], got[i])...)
	}
	return all
}

func byName(items []any) []any {
	if slices.ContainsFunc(items, func(item any) bool { return nameOf(item) == "" }) {
		return items
	}
	items = slices.Clone(items)
	sort.SliceStable(items, func(i, j int) bool { return nameOf(items[i]) < nameOf(items[j]) })
	return items
}

func nameOf(item any) string {
	object, _ := item.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

func jsonOf(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// A golden test of a backend that leaves fields out would prove nothing.
func TestGoldenTheBackendHasEveryFieldOfMcpGosTypes(t *testing.T) {
	t.Parallel()
	seen := httpPeer(t, modern, goldenEndpoint(t))
	typed := func(list string) any {
		items := seen.ask(goldenQuestions[list].method, map[string]any{})["result"].(map[string]any)[list]
		for _, item := range items.([]any) {
			if nameOf(item) == "typed" {
				return item
			}
		}
		return nil
	}
	call := seen.ask("tools/call", map[string]any{"name": "typed"})["result"].(map[string]any)
	for _, tt := range []struct {
		of  reflect.Type
		got any
	}{
		{reflect.TypeFor[mcp.Tool](), typed("tools")},
		{reflect.TypeFor[mcp.Prompt](), typed("prompts")},
		{reflect.TypeFor[mcp.Resource](), typed("resources")},
		{reflect.TypeFor[mcp.ToolAnnotation](), typed("tools").(map[string]any)["annotations"]},
		{reflect.TypeFor[mcp.Icon](), typed("tools").(map[string]any)["icons"].([]any)[0]},
		{reflect.TypeFor[mcp.ResourceLink](), call["content"].([]any)[3]},
		{reflect.TypeFor[mcp.EmbeddedResource](), call["content"].([]any)[4]},
		{reflect.TypeFor[mcp.Annotations](), call["content"].([]any)[0].(map[string]any)["annotations"]},
	} {
		for _, name := range wireNames(tt.of) {
			assert.Containsf(t, tt.got, name, "a %s", tt.of)
		}
	}
}
