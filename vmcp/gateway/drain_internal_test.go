package gateway

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	request = `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`
	answer  = `{"jsonrpc":"2.0","id":1,"result":{}}`
)

func TestTheEndOfTheInputWaitsForAnswersOnly(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		input string
		takes time.Duration
	}{
		"an answered request":              {request + "\n", time.Second},
		"a request without a line end":     {request, time.Second},
		"one that is never answered":       {request + "\n" + request + "\n", drainTime},
		"a notification":                   {`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n", 0},
		"the caller's answer to a request": {answer + "\n", 0},
		"what is no JSON":                  {"hello\n", 0},
		"nothing":                          {"", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDrain(context.Background(), strings.NewReader(tt.input), io.Discard)
				time.AfterFunc(500*time.Millisecond, func() {
					_, _ = d.Write([]byte(`{"jsonrpc":"2.0","method":"notifications/progress"}`)) // no answer
				})
				time.AfterFunc(time.Second, func() { _, _ = d.Write([]byte(answer)) })
				began := time.Now()
				read, err := io.ReadAll(d)
				require.NoError(t, err)
				assert.Equal(t, tt.input, string(read), "it comes through as it is")
				assert.Equal(t, tt.takes, time.Since(began))
			})
		})
	}
}

func TestTheEndOfTheInputDoesNotOutliveTheContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := io.ReadAll(newDrain(ctx, strings.NewReader(request), io.Discard))
		require.NoError(t, err)
		assert.Equal(t, time.Second, time.Since(began))
	})
}
