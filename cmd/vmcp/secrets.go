package main

import (
	"maps"
	"strings"

	"github.com/mcp-candor/candor/mcpclient/connect"
)

// secretsOf are what a target was given that no log may repeat. A path in the
// environment of a program, such as HOME, may stand there.
func secretsOf(target connect.Target) []string {
	if program, ok := target.(connect.Stdio); ok {
		program.Env = maps.Clone(program.Env)
		maps.DeleteFunc(program.Env, func(_, value string) bool { return strings.HasPrefix(value, "/") })
		target = program
	}
	return connect.Secrets(target)
}
