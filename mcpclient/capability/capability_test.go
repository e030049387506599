package capability_test

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/mcpclient/capability"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// said is what mcp-go makes of the capabilities of a handshake.
func said(t *testing.T, text string) mcp.ServerCapabilities {
	t.Helper()
	var has mcp.ServerCapabilities
	require.NoError(t, json.Unmarshal([]byte(text), &has))
	return has
}

func TestAnEmptyObjectAdvertisesAndNullDoesNot(t *testing.T) {
	t.Parallel()
	for _, c := range capability.All {
		assert.True(t, c.In(said(t, `{"`+c.Name+`":{}}`)), "%s: {}", c.Name)
		assert.False(t, c.In(said(t, `{"`+c.Name+`":null}`)), "%s: null", c.Name)
		assert.False(t, c.In(said(t, `{}`)), "no %s", c.Name)
		for _, other := range capability.All {
			assert.Equal(t, c == other, c.In(said(t, `{"`+other.Name+`":{}}`)), "%s where %s is advertised", c.Name, other.Name)
		}
	}
	assert.False(t, (*capability.Capability)(nil).In(said(t, `{"tools":{}}`)))
}

func TestWhatIsDeclaredIsWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, c := range capability.All {
		var plain, full mcp.ServerCapabilities
		c.Declare(&plain, capability.Details{})
		c.Declare(&full, capability.Details{ListChanged: true, Subscribe: true})
		assert.True(t, c.In(plain), c.Name)
		assert.False(t, c.TellsChanges(plain), c.Name)
		assert.Equal(t, len(listsOf(c)) > 0, c.TellsChanges(full), "%s tells of changes if it has a list", c.Name)
	}
}

func listsOf(c *capability.Capability) (lists []mcp.MCPMethod) {
	for _, method := range capability.Methods {
		if method.Of == c && method.Lists != "" {
			lists = append(lists, method.Name)
		}
	}
	return lists
}

func TestTheListsThatAServerAdvertises(t *testing.T) {
	t.Parallel()
	names := func(text string) (names []mcp.MCPMethod) {
		for _, list := range capability.Lists(said(t, text)) {
			names = append(names, list.Name)
		}
		return names
	}
	assert.Empty(t, names(`{"logging":{},"completions":{}}`))
	assert.Equal(t, []mcp.MCPMethod{mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList}, names(`{"resources":{}}`))
	assert.Equal(t,
		[]mcp.MCPMethod{mcp.MethodToolsList, mcp.MethodResourcesList, mcp.MethodResourcesTemplatesList, mcp.MethodPromptsList},
		names(`{"prompts":{},"resources":{},"tools":{}}`))
}

// The rule, method by method, as the design has it.
func TestWhatBecomesOfAMethodThatIsMissing(t *testing.T) {
	t.Parallel()
	rule := map[mcp.MCPMethod]capability.Leniency{
		mcp.MethodResourcesList: capability.Forgiven, mcp.MethodResourcesTemplatesList: capability.Forgiven, mcp.MethodPromptsList: capability.Forgiven,
		mcp.MethodToolsList:          capability.Contradicted,
		mcp.MethodCompletionComplete: capability.Utility, mcp.MethodSetLogLevel: capability.Utility,
	}
	for _, method := range capability.Methods {
		assert.Equal(t, rule[method.Name], method.Missing, "%s", method.Name)
	}
}

func TestWhatAServerHasPromised(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		method mcp.MCPMethod
		said   string
		want   bool
	}{
		"a method of a capability":                     {mcp.MethodPromptsGet, `{"prompts":{}}`, true},
		"a method of another one":                      {mcp.MethodPromptsGet, `{"tools":{}}`, false},
		"subscriptions need more than resources":       {mcp.MethodResourcesSubscribe, `{"resources":{}}`, false},
		"subscriptions that are advertised":            {mcp.MethodResourcesSubscribe, `{"resources":{"subscribe":true}}`, true},
		"what every server has is no server's promise": {mcp.MethodPing, `{"tools":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			method, ok := capability.Of(test.method)
			require.True(t, ok)
			assert.Equal(t, test.want, method.Promised(said(t, test.said)))
		})
	}
}

func TestWhichVersionsHaveAMethod(t *testing.T) {
	t.Parallel()
	legacy := []mcp.MCPMethod{mcp.MethodInitialize, mcp.MethodPing, mcp.MethodResourcesSubscribe, mcp.MethodResourcesUnsubscribe, mcp.MethodSetLogLevel}
	modern := []mcp.MCPMethod{mcp.MethodServerDiscover, mcp.MethodSubscriptionsListen}
	for _, method := range capability.Methods {
		for _, version := range mcp.ValidProtocolVersions {
			want := true
			for _, name := range legacy {
				want = want && (name != method.Name || !mcp.IsModernProtocol(version))
			}
			for _, name := range modern {
				want = want && (name != method.Name || mcp.IsModernProtocol(version))
			}
			assert.Equal(t, want, method.On(version), "%s on %s", method.Name, version)
		}
	}
	_, ok := capability.Of("vendor/method")
	assert.False(t, ok)
	assert.True(t, capability.IsList(mcp.MethodToolsList))
	assert.False(t, capability.IsList(mcp.MethodToolsCall))
}
