package connect

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTail(t *testing.T) {
	t.Parallel()
	var long string // 1500 bytes, no end of which is a beginning
	for i := range 300 {
		long += fmt.Sprintf("<%03d>", i)
	}
	for name, test := range map[string]struct {
		secrets []string
		written string
		want    string
	}{
		"nothing":                    {nil, "", ""},
		"white space":                {nil, " \n\n", ""},
		"all of a short text":        {nil, "one\ntwo\n", "one\ntwo"},
		"the end of a long text":     {nil, "begin" + strings.Repeat("x", tailSize-3) + "end", "..." + strings.Repeat("x", tailSize-3) + "end"},
		"whole characters only":      {nil, strings.Repeat("é", tailSize), "..." + strings.Repeat("é", tailSize/2)},
		"whole characters, odd cut":  {nil, strings.Repeat("é", tailSize) + "x", "..." + strings.Repeat("é", tailSize/2-1) + "x"},
		"what is no UTF-8":           {nil, "a\xffb", "a\uFFFDb"},
		"colours":                    {nil, "\x1b[31mred\r\nline", "␛[31mred\nline"},
		"a secret":                   {[]string{"secret"}, "a secret b secret", "a *** b ***"},
		"a short secret is a word":   {[]string{"true"}, "it is true", "it is true"},
		"an empty secret":            {[]string{""}, "text", "text"},
		"a secret within another":    {[]string{"secret", "secret-longer", "secret-l"}, "secret-longer", "***"},
		"a secret at the outer cut":  {[]string{"secret"}, "secret" + strings.Repeat("x", tailSize-3), "***" + strings.Repeat("x", tailSize-3)},
		"half a secret at the inner": {[]string{long}, strings.Repeat(long, 3) + "end", "******end"},
		"a secret that fills it all": {[]string{"begin" + strings.Repeat("s", 9000)}, "begin" + strings.Repeat("s", 9000), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inOne := &tail{secrets: longestFirst(test.secrets)}
			n, err := inOne.Write([]byte(test.written))
			assert.NoError(t, err)
			assert.Equal(t, len(test.written), n)
			assert.Equal(t, test.want, inOne.String())

			bytewise := &tail{secrets: longestFirst(test.secrets)}
			for i := range len(test.written) {
				_, _ = bytewise.Write([]byte{test.written[i]})
			}
			assert.Equal(t, test.want, bytewise.String())
			assert.LessOrEqual(t, len(bytewise.kept), 2*tailSize)
		})
	}
}
