package connect

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mcp-candor/candor/mcpclient/wire"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOnlyALineThatIsTooLongFails(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		input string
		fails bool
	}{
		"lines at the limit, and more of them": {"12345678\n12345678\n1234\n", false},
		"a line without an end, at the limit":  {"1\n12345678", false},
		"a line over the limit":                {"1\n123456789\n", true},
		"a line over the limit without an end": {"123456789", true},
		"an empty line between":                {"12345678\n\n12345678\n", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, input := range []io.Reader{strings.NewReader(tt.input), iotest.OneByteReader(strings.NewReader(tt.input))} {
				l := newLines(input, 8)
				_, err := io.ReadAll(l)
				if !tt.fails {
					require.NoError(t, err)
					continue
				}
				var tooLong *wire.BodyTooLargeError
				require.ErrorAs(t, err, &tooLong)
				assert.Equal(t, int64(8), tooLong.Limit)
				_, err = l.Read(make([]byte, 1))
				require.ErrorAs(t, err, &tooLong, "and it stays so")
			}
		})
	}
}
