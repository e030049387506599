package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pages are those that people read, by their path.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	read := map[string]string{}
	for _, file := range append(files, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		read[file] = string(text)
	}
	return read
}

var (
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)
	commands = regexp.MustCompile("vmcp ([a-z]+)([^`|#\n]*)")
	flags    = regexp.MustCompile(`(?:^|[\s[])--([a-z][a-z-]*)`)
)

// anchors are what GitHub makes of the headings of a page.
func anchors(page string) []string {
	var all []string
	for _, heading := range headings.FindAllStringSubmatch(page, -1) {
		plain := noAnchor.ReplaceAllString(strings.ToLower(heading[1]), "")
		all = append(all, strings.ReplaceAll(plain, " ", "-"))
	}
	return all
}

func TestDocumentsLinkToWhatExists(t *testing.T) {
	all := pages(t)
	for file, page := range all {
		for _, link := range links.FindAllStringSubmatch(page, -1) {
			path, anchor, _ := strings.Cut(link[1], "#")
			if strings.Contains(path, "://") {
				continue
			}
			to := file
			if path != "" {
				to = filepath.Join(filepath.Dir(file), path)
				assert.FileExists(t, existing(to), "%s links to it", file)
			}
			if anchor != "" {
				assert.Contains(t, anchors(all[to]), anchor, "%s links to that heading of %s", file, to)
			}
		}
	}
}

// existing is a file that stands for a folder, too.
func existing(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		found, _ := filepath.Glob(filepath.Join(path, "*.go"))
		if len(found) > 0 {
			return found[0]
		}
	}
	return path
}

func TestDocumentsNameCommandsAndFlagsThatExist(t *testing.T) {
	seen := 0
	for file, page := range pages(t) {
		for _, written := range commands.FindAllStringSubmatch(page, -1) {
			command, _, err := newRoot(streams{}).Find([]string{written[1]})
			if err != nil {
				continue // it is a word of a sentence
			}
			arguments, _, _ := strings.Cut(written[2], " -- ") // what follows is another program's
			for _, flag := range flags.FindAllStringSubmatch(arguments, -1) {
				seen++
				assert.NotNil(t, command.Flags().Lookup(flag[1]), "%s: vmcp %s --%s", file, written[1], flag[1])
			}
		}
	}
	assert.Greater(t, seen, 20)
}
