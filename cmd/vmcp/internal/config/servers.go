package config

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// file is what the whole file says.
func (r *reader) file(root entry) ([]Server, Gateway) {
	top := r.top(root)
	var servers []Server
	if top.servers.path != "" {
		servers = r.servers(top.servers)
	}
	return servers, r.gateway(top.gateway)
}

// servers are those that are not disabled.
func (r *reader) servers(all entry) []Server {
	members, ok := r.members(all, "Write {NAME: {...}} for each server, for example "+example+".")
	if !ok {
		return nil
	}
	var servers []Server
	left := 0
	for _, m := range members {
		if isComment(m.name) && m.kind() != '{' {
			continue
		}
		server, disabled := r.server(m)
		if disabled {
			left++
			continue
		}
		servers = append(servers, server)
	}
	if len(servers) == 0 {
		r.noServers(all, left)
	}
	return servers
}

func (r *reader) noServers(all entry, disabled int) {
	if disabled > 0 {
		r.problem(all, "every server is disabled", "Enable one, or add one, for example "+example+".")
		return
	}
	r.problem(all, "there is no server in it", "Add one, for example "+example+".")
}

// top are the values of the file's own keys; a key that is not there has no path.
type top struct{ servers, gateway entry }

func (r *reader) top(root entry) (t top) {
	members, ok := r.members(root, "Write your servers into one, for example "+example+".")
	if !ok {
		return t
	}
	others, unknown := r.sortTop(members, &t)
	found := t.servers.path != ""
	if !found && looksLikeServer(root) {
		r.problem(root, `a server that is not in "mcpServers"`, `Write {"mcpServers": {"NAME": {...}}} around it.`)
		return t
	}
	r.noteOtherPrograms(others)
	explained := r.unknownTopKeys(unknown, found)
	if !found && !explained {
		r.problem(root, `there is no "mcpServers"`, "Write your servers into it, for example "+example+".")
	}
	return t
}

// sortTop puts each member where it belongs: what is the file's own goes into t.
func (r *reader) sortTop(members []entry, t *top) (others, unknown []entry) {
	for _, m := range members {
		switch {
		case m.name == "mcpServers":
			t.servers = m
		case m.name == "gateway":
			t.gateway = m
		case m.name == "$schema" || isComment(m.name):
		case switches[m.name] != "":
			r.note(m, m.path+" has no effect in vmcp: "+switches[m.name])
		case otherPrograms[m.name]:
			others = append(others, m)
		default:
			unknown = append(unknown, m)
		}
	}
	return others, unknown
}

func (r *reader) noteOtherPrograms(keys []entry) {
	switch len(keys) {
	case 0:
	case 1:
		r.note(keys[0], keys[0].path+" has no effect in vmcp")
	default:
		var names []string
		for _, k := range keys {
			names = append(names, k.path)
		}
		r.note(keys[0], strings.Join(names, ", ")+" have no effect in vmcp")
	}
}

// unknownTopKeys says whether one of them explains why there is no "mcpServers".
func (r *reader) unknownTopKeys(keys []entry, found bool) (explained bool) {
	for _, key := range keys {
		near := nearest(key.name, topKeys)
		switch {
		case elsewhere[key.name] && found:
			r.problem(key, `vmcp reads "mcpServers" only`, `Move what is in it to "mcpServers".`)
		case elsewhere[key.name]:
			r.problem(key, `vmcp reads "mcpServers"`, fmt.Sprintf("Rename %q to \"mcpServers\".", key.name))
		case looksLikeServer(key):
			r.problem(key, `a server that is not in "mcpServers"`, `Move it to {"mcpServers": {...}}.`)
		case near != "":
			r.problem(key, "unknown key", fmt.Sprintf("Did you mean %q?", near))
			explained = explained || near == "mcpServers"
			continue
		default:
			r.problem(key, "unknown key", `Remove it: vmcp reads "mcpServers" and "gateway" only.`)
			continue
		}
		explained = true
	}
	return explained
}

func looksLikeServer(e entry) bool {
	object, ok := e.value.Value.(*hujson.Object)
	if !ok {
		return false
	}
	for _, m := range object.Members {
		if key := serverKeys[e.member(m).name]; key == "command" || key == "url" {
			return true
		}
	}
	return false
}
