package config

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// serverKeys are the keys of a server that have an effect. Value: the key that it is another name of.
var serverKeys = map[string]string{
	"command":           "command",
	"args":              "args",
	"env":               "env",
	"cwd":               "cwd",
	"working_directory": "cwd", // Warp
	"workingDirectory":  "cwd", // JetBrains
	"url":               "url",
	"serverUrl":         "url", // Windsurf, Antigravity
	"httpUrl":           "url", // Gemini CLI; always streamable HTTP
	"baseUrl":           "url", // Cherry Studio
	"headers":           "headers",
	"type":              "type",
	"transport":         "type", // FastMCP, VS Code's gallery
	"transportType":     "type", // Cline, older
	"disabled":          "disabled",
	"enabled":           "disabled", // Zed, JetBrains; says the opposite
	"isActive":          "disabled", // Cherry Studio; says the opposite
}

const (
	noSignIn     = `vmcp cannot sign in; put a token into "headers", for example {"Authorization": "Bearer ${TOKEN}"}`
	allTools     = "vmcp offers every tool of the server"
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
	"tools":         allTools, // GitHub Copilot CLI, FastMCP
	"includeTools":  allTools, // Gemini CLI, Amp
	"excludeTools":  allTools, // Gemini CLI
	"enabledTools":  allTools,
	"disabledTools": allTools, // Windsurf, Roo Code, Kiro
	"alwaysLoad":    "",       // Claude Code
	"filterMapping": "",       // GitHub Copilot CLI

	// How long to wait.
	"timeout":           "", // Cline, Roo Code, Gemini CLI, Claude Code, Zed
	"timeoutMs":         "", // Kiro
	"connectionTimeout": "", // Continue

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
var topKeys = []string{"mcpServers", "$schema"}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
