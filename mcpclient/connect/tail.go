package connect

import (
	"io"
	"strings"
	"sync"

	"github.com/mcp-candor/candor/internal/plain"
)

// tail keeps the last of what is written to it. It is safe for concurrent use.
type tail struct {
	secrets []string  // longest first
	life    *lifesign // nil if nobody looks for it

	mu   sync.Mutex
	kept []byte
	cut  bool // there was more
}

const tailSize = 2 << 10

func (t *tail) Write(p []byte) (int, error) {
	if t.life != nil {
		t.life.see()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	// Twice the size is kept, so that few secrets are in halves.
	if extra := len(t.kept) - 2*tailSize; extra > 0 {
		t.kept = append(t.kept[:0], t.kept[extra:]...)
		t.cut = true
	}
	return len(p), nil
}

// String returns the last lines, masked and plain.
func (t *tail) String() string {
	t.mu.Lock()
	text, cut := string(t.kept), t.cut
	t.mu.Unlock()
	if cut {
		text = withoutHalf(text, t.secrets)
	}
	return plain.Tail(strings.TrimSpace(plain.Text(mask(text, t.secrets))), tailSize)
}

// withoutHalf takes off the end of a secret that a text begins with.
func withoutHalf(text string, secrets []string) string {
	longest := 0
	for _, secret := range secrets {
		for from := 1; from < len(secret); from++ {
			if strings.HasPrefix(text, secret[from:]) {
				longest = max(longest, len(secret)-from)
				break
			}
		}
	}
	return text[longest:]
}

// copied writes what the tail keeps to the caller's writer too, until that
// fails: the process must not be cut off for it.
type copied struct {
	*tail
	to io.Writer
}

func (c *copied) Write(p []byte) (int, error) {
	if _, err := c.to.Write(p); err != nil {
		c.to = io.Discard
	}
	return c.tail.Write(p)
}
