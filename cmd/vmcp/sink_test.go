package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/redact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// gate is a place that blocks while it is shut and fails while it is broken.
type gate struct {
	mu     sync.Mutex // held while shut
	broken error
	got    bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken != nil {
		return 0, g.broken
	}
	return g.got.Write(p)
}

func (g *gate) text() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.got.String()
}

func (g *gate) set(broken error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.broken = broken
}

// twoPlaces is a log on standard error and on one more place.
func twoPlaces(stderr, more *gate) *logs {
	l := &logs{secrets: redact.New()}
	for name, to := range map[string]*gate{"standard error": stderr, "file": more} {
		s := newSink(name, to)
		l.places = append(l.places, place{s, slog.NewJSONHandler(s, nil)})
	}
	if l.places[0].name != "standard error" {
		l.places[0], l.places[1] = l.places[1], l.places[0]
	}
	l.begin()
	return l
}

func TestAPlaceThatBlocksHoldsNobodyUpAndSaysLaterWhatWasLost(t *testing.T) {
	t.Parallel()
	stderr, slow := &gate{}, &gate{}
	slow.mu.Lock()
	l := twoPlaces(stderr, slow)
	logger := l.logger()
	for n := range 3 * sinkQueue {
		logger.Info("record", "n", n)
		if n%100 == 0 { // the other place keeps up
			require.Eventually(t, func() bool { return strings.Contains(stderr.text(), fmt.Sprintf(`"n":%d}`, n)) }, 5*time.Second, time.Millisecond)
		}
	}
	slow.mu.Unlock()
	assert.Eventually(t, func() bool { return strings.Contains(stderr.text(), "log records were lost") }, 5*time.Second, time.Millisecond)
	require.NoError(t, l.Close())
	// One was being written when the queue filled up behind it.
	assert.Contains(t, stderr.text(), fmt.Sprintf(`"event":"log_lost","place":"file","records":%d`, 2*sinkQueue-1))
	assert.Contains(t, slow.text(), `"msg":"log records were lost"`, "it stands where they are missing as well")
	assert.Equal(t, 3*sinkQueue, strings.Count(stderr.text(), `"msg":"record"`))
}

func TestAPlaceThatFailsSaysSoOnTheOthersOnce(t *testing.T) {
	t.Parallel()
	stderr, full := &gate{}, &gate{broken: errors.New("no space left on device")}
	l := twoPlaces(stderr, full)
	logger := l.logger()
	for range 3 {
		logger.Info("record")
	}
	assert.Eventually(t, func() bool { return strings.Count(stderr.text(), `"msg":"record"`) == 3 }, 5*time.Second, time.Millisecond)
	assert.Eventually(t, func() bool { return strings.Contains(stderr.text(), "the log cannot be written") }, 5*time.Second, time.Millisecond)
	require.Eventually(t, func() bool { return len(l.places[1].lines) == 0 }, 5*time.Second, time.Millisecond)
	full.set(nil)
	logger.Info("record")
	assert.Eventually(t, func() bool { return strings.Contains(full.text(), "log records were lost") }, 5*time.Second, time.Millisecond)
	require.NoError(t, l.Close())
	assert.Equal(t, 1, strings.Count(stderr.text(), "the log cannot be written"))
	assert.Contains(t, stderr.text(), `"error":"no space left on device"`)
	assert.Contains(t, stderr.text(), "log records were lost")
}

func TestWhatIsLostAtTheEndIsAnError(t *testing.T) {
	t.Parallel()
	l := twoPlaces(&gate{}, &gate{broken: errors.New("no space left on device")})
	l.logger().Info("record")
	assert.EqualError(t, l.Close(), "file: 1 records were not written: no space left on device")
}

func TestAPlaceThatFailsAtTheEndStillSaysSoOnStandardError(t *testing.T) {
	t.Parallel()
	stderr, full := &gate{}, &gate{broken: errors.New("no space left on device")}
	full.mu.Lock()
	l := twoPlaces(stderr, full)
	go func() {
		<-l.places[1].closing
		full.mu.Unlock()
	}()
	l.logger().Info("record")
	require.Error(t, l.Close())
	assert.Contains(t, stderr.text(), "the log cannot be written")
}

func TestThatNobodyReadsStandardErrorIsNoError(t *testing.T) {
	t.Parallel()
	l := twoPlaces(&gate{broken: errors.New("broken pipe")}, &gate{})
	l.logger().Info("record")
	assert.NoError(t, l.Close())
}

// blocked never returns until the test ends.
type blocked chan struct{}

func (b blocked) Write(p []byte) (int, error) {
	<-b
	return len(p), nil
}

func TestClosingAPlaceThatBlocksTakesTwoSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stuck := make(blocked)
		s := newSink("file", stuck)
		go s.run()
		for range 3 {
			_, err := s.Write([]byte("x\n"))
			require.NoError(t, err)
		}
		began := time.Now()
		assert.EqualError(t, s.Close(), "file: it takes no more; at least 3 records were not written")
		assert.Equal(t, sinkFlush, time.Since(began))
		close(stuck)
	})
}

func TestContradictionsThatCannotBeWrittenAreSaid(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Log("this system has no /dev/full")
		return
	}
	got := vmcpWith(t, "tools", "--contradictions", "/dev/full")
	assert.Equal(t, statusFailure, got.status)
	assert.Contains(t, got.err, `"msg":"the log cannot be written","event":"log_lost","place":"--contradictions /dev/full"`)
	assert.Contains(t, got.err, "vmcp: --contradictions /dev/full: 3 records were not written")
}

func TestLogFileGetsTheLogAsJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vmcp.jsonl")
	got := vmcpWith(t, "tools", "--log-level", "debug", "--log-file", file)
	require.Equal(t, statusOK, got.status)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, got.err, string(data))
	assert.Contains(t, string(data), `"msg":"mcp call"`)
}

func TestALogFileThatCannotBeWrittenIsAMatterOfUsage(t *testing.T) {
	got := vmcpWith(t, "tools", "--log-file", t.TempDir(), "--contradictions", t.TempDir())
	assert.Equal(t, statusUsage, got.status)
	assert.Contains(t, got.err, "--log-file: open")
	assert.Contains(t, got.err, "--contradictions: open")
}
