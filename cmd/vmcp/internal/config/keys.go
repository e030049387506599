package config

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/mcp-candor/candor/vmcp"
)

// transportKeys are the keys of a server that say what it is and how to reach it; the settings of
// settingsTable say how vmcp treats it.
var transportKeys = []about{
	{name: "command", kind: "string", standard: "none", example: `"npx"`,
		effect: `The program to start, which speaks MCP over its standard input and output. A server has this or a "url".`,
		schema: stringSchema()},
	{name: "args", kind: "array of strings", standard: "none", example: `["-y", "@modelcontextprotocol/server-everything"]`,
		effect: "The arguments of the command.",
		schema: schema{"type": []string{"array", "null"}, "items": schema{"type": "string"}}},
	{name: "env", kind: "object of strings", standard: "none", example: `{"API_KEY": "${API_KEY}"}`,
		effect: "Variables for the command, beside those of vmcp's own environment.",
		schema: schema{"type": []string{"object", "null"}, "propertyNames": schema{"pattern": "^[^=]+$"}, "additionalProperties": schema{"type": "string"}}},
	{name: "cwd", kind: "string", standard: "that of vmcp", example: `"/srv"`,
		others: []string{
			"working_directory", // Warp
			"workingDirectory",  // JetBrains
		},
		effect: "The working directory of the command.",
		schema: stringSchema()},
	{name: "url", kind: "string", standard: "none", example: `"https://example.com/mcp"`,
		others: []string{
			"serverUrl", // Windsurf, Antigravity
			"httpUrl",   // Gemini CLI; always streamable HTTP
			"baseUrl",   // Cherry Studio
		},
		effect: `The absolute http or https URL of a server to connect to. "httpUrl" is streamable HTTP whatever its path.`,
		schema: schema{"type": []string{"string", "null"}, "pattern": urlPattern}},
	{name: "headers", kind: "object of strings", standard: "none", example: `{"Authorization": "Bearer ${TOKEN}"}`,
		effect: "HTTP headers of every request to the server.",
		schema: schema{"type": []string{"object", "null"}, "propertyNames": schema{"pattern": vmcp.HeaderNamePattern}, "additionalProperties": schema{"type": "string"}}},
	{name: "type", kind: `"stdio", "http" or "sse"`, standard: `"stdio" for a command; "sse" for a URL whose path ends in /sse, else "http"`, example: `"http"`,
		others: []string{
			"transport",     // FastMCP, VS Code's gallery
			"transportType", // Cline, older
		},
		effect: `The transport. "streamable-http", "streamableHttp" and "streamable_http" are "http" too.`,
		schema: schema{"enum": typeValues()}},
	{name: "disabled", kind: "boolean", standard: "false", example: `true`,
		others: []string{
			"enabled",  // Zed, JetBrains; says the opposite
			"isActive", // Cherry Studio; says the opposite
		},
		effect: `Leaves the server out, and everything in it unchecked. "enabled" and "isActive" say the opposite.`,
		schema: schema{"type": []string{"boolean", "null"}}},
}

// allServerKeys are the keys of a server that have an effect.
var allServerKeys = slices.Concat(transportKeys, abouts(settingsTable))

// serverKeys are the same by each of their names. Value: the key that it is a name of.
var serverKeys = byName(allServerKeys)

func byName(keys []about) map[string]string {
	names := map[string]string{}
	for _, k := range keys {
		for _, name := range append([]string{k.name}, k.others...) {
			names[name] = k.name
		}
	}
	return names
}

const (
	noSignIn     = `vmcp cannot sign in; put a token into "headers", for example {"Authorization": "Bearer ${TOKEN}"}`
	chooseTools  = `choose with "tools", for example {"include": ["get_*"]}`
	setTimeouts  = `set "timeouts", for example {"call": "60s"}`
	noSandbox    = "vmcp starts the command without a sandbox"
	putInHeaders = `put the headers into "headers", with "${NAME}" for what is secret`
)

// withoutEffect are keys of a server that other programs write and vmcp leaves aside, with what to
// do instead where the server may not work, or may do more, without them.
var withoutEffect = map[string]string{
	// Whether to ask before a tool is called.
	"autoApprove":              "", // Cline, Amazon Q, Kiro
	"alwaysAllow":              "", // Roo Code, Kilo Code
	"trust":                    "", // Gemini CLI
	"disabledAutoApproveTools": "", // Cherry Studio

	// Which tools there are.
	"includeTools":  chooseTools, // Gemini CLI, Amp
	"excludeTools":  chooseTools, // Gemini CLI
	"enabledTools":  chooseTools,
	"disabledTools": chooseTools, // Windsurf, Roo Code, Kiro
	"alwaysLoad":    "",          // Claude Code
	"filterMapping": "",          // GitHub Copilot CLI

	// How long to wait.
	"timeout":           setTimeouts, // Cline, Roo Code, Gemini CLI, Claude Code, Zed
	"timeoutMs":         setTimeouts, // Kiro
	"connectionTimeout": setTimeouts, // Continue

	// What to show.
	"name":          "", // Continue, Cherry Studio
	"displayName":   "", // GitHub Copilot CLI
	"serverName":    "", // Continue
	"description":   "", // Gemini CLI, Cherry Studio
	"icon":          "", // FastMCP and many registries
	"iconUrl":       "",
	"logoUrl":       "", // Cherry Studio
	"faviconUrl":    "", // Continue
	"tags":          "", // Cherry Studio
	"reference":     "", // Cherry Studio
	"metadata":      "", // Cline
	"version":       "", // VS Code
	"gallery":       "", // VS Code
	"fromGalleryId": "", // Trae
	"id":            "", // Cherry Studio
	"provider":      "", // Cherry Studio
	"providerUrl":   "", // Cherry Studio
	"searchKey":     "", // Cherry Studio
	"configSample":  "", // Cherry Studio
	"shouldConfig":  "", // Cherry Studio
	"dxtVersion":    "", // Cherry Studio
	"dxtPath":       "", // Cherry Studio

	// Where an entry comes from.
	"source":           "", // Zed
	"sourceFile":       "", // Continue
	"settings":         "", // Zed
	"extension":        "", // Gemini CLI
	"extensionName":    "", // Gemini CLI, older
	"extensionId":      "", // Claude Desktop
	"remoteConfigured": "", // Cline

	// When and where to start.
	"dev":             "",        // VS Code
	"watchPaths":      "",        // Roo Code
	"start_on_launch": "",        // Warp
	"longRunning":     "",        // Cherry Studio
	"remote":          "",        // Zed
	"sandbox":         noSandbox, // VS Code
	"sandboxEnabled":  noSandbox, // VS Code

	// What the server needs: files (VS Code, Cursor; Cherry Studio), WebSockets (Gemini CLI),
	// computed headers (Continue; Claude Code).
	"envFile":        `put its variables into "env"`,
	"registryUrl":    `put the registry into "env", for example as "npm_config_registry" or "UV_DEFAULT_INDEX"`,
	"tcp":            `vmcp has no WebSocket; give a "url" that starts with http, or a "command"`,
	"requestOptions": putInHeaders,
	"headersHelper":  putInHeaders,

	// Signing in: Claude Code, VS Code, Gemini CLI, Kiro and Cline; Cursor and FastMCP; Kiro and
	// GitHub Copilot CLI; GitHub Copilot CLI; Gemini CLI.
	"oauth":                noSignIn,
	"auth":                 noSignIn,
	"oauthScopes":          noSignIn,
	"oauthClientId":        noSignIn,
	"oauthPublicClient":    noSignIn,
	"oauthGrantType":       noSignIn,
	"oidc":                 noSignIn,
	"authProviderType":     noSignIn,
	"targetAudience":       noSignIn,
	"targetServiceAccount": noSignIn,
}

// otherPrograms are keys beside "mcpServers" that belong to the program whose file it is.
var otherPrograms = newSet(
	// Claude Desktop.
	"globalShortcut", "preferences", "features", "claudeAiUrl", "deploymentMode", "awaitingSignIn", "managedConfig",
	"isUsingBuiltInNodeForMcp", "isDxtAutoUpdatesEnabled", "dxtMaxTotalSizeMB", "isCoworkSdkDebuggingEnabled",
	"isHardwareAccelerationDisabled", "isHardwareAccelerationAutoDisabled",
	"isHardwareAccelerationAutoDisableNoticePending", "coworkUserFilesPath", "coworkUserFilesPathUncRedirectedFrom",
	"lastRemoteBootstrapPartial", "lastRemoteBootstrapHost", "lastRemoteDisableEssentialTelemetry",
	"lastRemoteDisableEssentialTelemetryHost",
	// Gemini CLI and Qwen Code: settings.json.
	"admin", "advanced", "agents", "billing", "context", "experimental", "extensions", "general", "hooks", "hooksConfig",
	"ide", "model", "modelConfigs", "output", "privacy", "security", "skills", "telemetry", "tools", "ui",
	"useSmartEdit", "useWriteTodos",
	// The same before it had sections.
	"autoAccept", "bugCommand", "checkpointing", "contextFileName", "coreTools",
	"excludeTools", "fileFiltering", "hideBanner", "hideTips", "ideMode", "includeDirectories",
	"maxSessionTurns", "mcpServerCommand", "preferredEditor", "sandbox", "selectedAuthType", "theme",
	"toolCallCommand", "toolDiscoveryCommand", "usageStatisticsEnabled", "vimMode",
	// Amazon Q and Kiro: agents.
	"allowedTools", "prompt", "resources", "toolAliases", "toolsSettings", "useLegacyMcpJson",
	// VS Code, whose prompts an error of their own is about.
	"inputs",
	// Manifests of extensions and plugins.
	"author", "description", "homepage", "keywords", "license", "name", "repository", "schema", "version",
)

// switches are such keys that decide which servers run. Value: what to do instead.
var switches = map[string]string{
	"mcp":               setDisabled,                              // Gemini CLI
	"allowMCPServers":   setDisabled,                              // Gemini CLI, older
	"excludeMCPServers": setDisabled,                              // Gemini CLI, older
	"powers":            `move the servers in it to "mcpServers"`, // Kiro
}

const setDisabled = `set "disabled" to true in the servers that must not run`

// elsewhere are the keys under which other programs have what vmcp reads from "mcpServers".
var elsewhere = newSet(
	"servers",         // VS Code
	"context_servers", // Zed
	"mcp_servers",     // Jan, Codex
)

// meant are keys too far from the right one to be a slip, but common enough to know what is meant.
var meant = map[string]string{
	"cmd": "command", "program": "command", "executable": "command", // Goose and others
	"arguments": "args", "argv": "args",
	"environment": "env", "envs": "env", "env_vars": "env", // opencode, Goose, Codex
	"uri": "url", "endpoint": "url", // Goose
	"http_headers": "headers", // Codex
	"directory":    "cwd", "dir": "cwd",
	"protocol": "protocolVersion",
}

func newSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// isComment is true of keys that are written only because JSON has no comments.
func isComment(key string) bool {
	return strings.HasPrefix(key, "_") || strings.HasPrefix(key, "//") || strings.HasPrefix(key, "#") ||
		key == "$comment" || key == "comment"
}

// nearest is the one of names that was probably meant by key, or "". Of two that are equally near
// it is the first.
func nearest(key string, names []string) string {
	key = strings.ToLower(key)
	if len(key) > 64 {
		return ""
	}
	best, limit := "", min(max(2, len(key)/3), len(key)-1)+1
	for _, name := range names {
		if max(len(name), len(key))-min(len(name), len(key)) >= limit {
			continue
		}
		if distance := levenshtein.ComputeDistance(key, strings.ToLower(name)); distance < limit {
			best, limit = name, distance
		}
	}
	return best
}

// serverKeyNames are the candidates for nearest: those with an effect come first.
var serverKeyNames = slices.Concat(sortedKeys(serverKeys), sortedKeys(withoutEffect))

// topKeys are the candidates for nearest beside "mcpServers" and in its place.
var topKeys = []string{"mcpServers", "gateway", "$schema"}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
