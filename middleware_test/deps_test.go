package middleware_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheLibraryBringsNoSDKAndNoExporter is about what it needs in the end; the
// linter depguard watches what it imports itself.
func TestTheLibraryBringsNoSDKAndNoExporter(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "./events", "./instrument", "./middleware", "./mcpclient/...")
	list.Dir = ".."
	out, err := list.CombinedOutput()
	require.NoError(t, err, string(out))
	packages := strings.Fields(string(out))
	assert.Contains(t, packages, "go.opentelemetry.io/otel/metric")
	for _, name := range packages {
		for _, program := range []string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/contrib", "github.com/prometheus", "github.com/samber", "google.golang.org/grpc"} {
			assert.False(t, strings.HasPrefix(name, program), name)
		}
	}
}
