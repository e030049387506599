//go:build linux

package vmcp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/badserver"
	"github.com/mcp-candor/candor/mcpclient/connect"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// descriptors are what this process has open, sockets and pipes included.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	open := []string{}
	for _, entry := range entries {
		to, err := os.Readlink(filepath.Join("/proc/self/fd", entry.Name()))
		if err != nil {
			continue // that with which the directory was read
		}
		open = append(open, entry.Name()+" "+to)
	}
	return open
}

// children are the processes whose parent is this one, zombies included.
func children(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/status")
	require.NoError(t, err)
	found := []string{}
	for _, file := range files {
		status, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(status), fmt.Sprintf("\nPPid:\t%d\n", os.Getpid())) {
			found = append(found, file)
		}
	}
	return found
}

// leavesNothing runs a round again and again and counts what it leaves behind.
// The first round may leave what is made once for all.
func leavesNothing(t *testing.T, rounds int, round func(*testing.T)) {
	t.Helper()
	running := goleak.IgnoreCurrent()
	count := func(name string) (open, processes []string) {
		require.True(t, t.Run(name, round))
		require.NoError(t, goleak.Find(running)) // waits for them, and so for what they hold open
		return descriptors(t), children(t)
	}
	before, processes := count("first")
	assert.Empty(t, processes)
	for i := range rounds {
		open, processes := count(fmt.Sprint(i))
		require.Len(t, open, len(before), "before: %q, after: %q", before, open)
		require.Empty(t, processes)
	}
}

// The tests below are not parallel: they count for the whole process.

func TestBuildingAndClosingLeavesNothing(t *testing.T) {
	leavesNothing(t, 20, func(t *testing.T) {
		p := newPrograms(t)
		var backends []vmcp.Backend
		for kind, script := range map[string]badserver.Script{
			"good": serving("good"),
			"bad":  answering("tools/list", badserver.Fail(mcp.INTERNAL_ERROR, "no")),
			"gone": answering("tools/list", badserver.Answer{Exit: true}),
		} {
			for i, w := range ways {
				backends = append(backends, vmcp.Backend{ID: fmt.Sprint(kind, i), Connector: connect.To(w.playing(script, p)(t))})
			}
		}
		session, err := new(vmcp.Builder).Build(t.Context(), backends)
		require.NoError(t, err)
		for _, backend := range session.Report().Backends {
			if backend.State == vmcp.Ready {
				_, err := session.CallTool(t.Context(), callOf(backend.ID+"_alpha"))
				require.NoError(t, err)
			}
		}
		require.NoError(t, session.Close())
		p.await(t, none(3))
	})
}

func TestCancellingTheHandshakeLeavesNothing(t *testing.T) {
	stages := map[string][]way{
		"server/discover": {ways[0], ways[1], ways[2], ways[3], ways[5]},
		"initialize":      {ways[0], ways[2], ways[4], ways[5]}, // not what answers server/discover
		"tools/list":      ways,
	}
	leavesNothing(t, 10, func(t *testing.T) {
		for method, ways := range stages {
			fleet, programs := hanging(t, method, ways)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() {
				_, err := new(vmcp.Builder).Build(ctx, fleet.backends)
				ended <- err
			}()
			fleet.await(1)
			cancel()
			require.ErrorIs(t, <-ended, context.Canceled)
			programs.await(t, none(1))
		}
	})
}

func TestClosingBesideCallsLeavesNothing(t *testing.T) {
	leavesNothing(t, 10, func(t *testing.T) {
		fleet, programs := hanging(t, "tools/call", ways)
		session, err := new(vmcp.Builder).Build(t.Context(), fleet.backends)
		require.NoError(t, err)
		const each = 6 // over six transports: 36 calls
		ended := make(chan error, each*len(ways))
		for _, backend := range fleet.backends {
			for range each {
				go func() {
					_, err := session.CallTool(context.Background(), callOf(backend.ID+"_alpha"))
					ended <- err
				}()
			}
		}
		fleet.await(each)
		require.NoError(t, session.Close())
		for range cap(ended) {
			err := <-ended
			require.ErrorIs(t, err, vmcp.ErrClosed)
			var broken *transport.Error
			require.ErrorAs(t, err, &broken)
		}
		programs.await(t, none(1))
	})
}

func TestAKilledServerLeavesNothing(t *testing.T) {
	leavesNothing(t, 10, func(t *testing.T) {
		p := newPrograms(t)
		session, err := new(vmcp.Builder).Build(t.Context(), inTheMiddleOfACall(t, p))
		require.NoError(t, err)
		killedInTheMiddleOfACall(t, session, p)
		require.NoError(t, session.Close())
		p.await(t, none(2))
	})
}

// fleet is backends that hang at one method.
type fleet struct {
	backends []vmcp.Backend
	await    func(n int) // until each has got the method n times
}

func hanging(t *testing.T, method string, ways []way) (fleet, *programs) {
	t.Helper()
	p := newPrograms(t)
	var f fleet
	var awaits []func(string, int)
	for i, w := range ways {
		target, await := w.serve(t, answering(method, hang), p)
		f.backends = append(f.backends, vmcp.Backend{ID: fmt.Sprint("b", i), Connector: connect.To(target)})
		awaits = append(awaits, await)
	}
	f.await = func(n int) {
		for _, await := range awaits {
			await(method, n)
		}
	}
	return f, p
}
