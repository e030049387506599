//go:build real

// Package npm installs programs that others wrote, for the suites that are
// tagged real. None of their files is ever committed.
package npm

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// MustInstall installs the packages into a folder of that name below
// CANDOR_NPM_DIR, or below a folder in the user's cache, and returns it. It is
// for TestMain: where npm is missing and this is not CI it says that the suite
// is skipped and ends the program with success, and where the packages cannot
// be installed it ends it with a failure.
func MustInstall(suite, folder string, packages ...string) string {
	if _, err := exec.LookPath("npm"); err != nil && os.Getenv("CI") != "true" {
		fmt.Fprintf(os.Stdout, "skipped: %s needs Node 20 and npm, and found no npm\n", suite)
		os.Exit(0)
	}
	dir, err := install(folder, packages)
	if err != nil {
		fmt.Fprintf(os.Stdout, "FAIL: cannot install what %s needs: %v\n", suite, err)
		os.Exit(1)
	}
	return dir
}

func install(folder string, packages []string) (string, error) {
	root := os.Getenv("CANDOR_NPM_DIR")
	if root == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		root = filepath.Join(cache, "candor-npm")
	}
	dir := filepath.Join(root, folder)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return "", err
	}
	manifest := filepath.Join(dir, "package.json")
	if _, err := os.Stat(manifest); os.IsNotExist(err) {
		if err := os.WriteFile(manifest, []byte(`{"private":true}`), 0o600); err != nil {
			return "", err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	args := append([]string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"}, packages...)
	npm := exec.CommandContext(ctx, "npm", args...)
	npm.Dir = dir
	npm.Stdout, npm.Stderr = os.Stderr, os.Stderr
	npm.WaitDelay = 5 * time.Second
	return dir, npm.Run()
}
