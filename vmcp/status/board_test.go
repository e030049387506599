package status_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/status"
	"github.com/stretchr/testify/assert"
)

func backendsOf(b *status.Board) []vmcp.BackendReport {
	document, _ := b.Current()
	return document.Backends
}

func idsOf(b *status.Board) []string {
	var ids []string
	for _, backend := range backendsOf(b) {
		ids = append(ids, backend.ID)
	}
	return ids
}

func report(backends ...vmcp.BackendReport) vmcp.Report { return vmcp.Report{Backends: backends} }

func TestTheNewestKnowledgeOfABackendWins(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ready := vmcp.BackendReport{ID: "a", State: vmcp.Ready, Since: now}
	failedLater := vmcp.BackendReport{ID: "a", State: vmcp.Failed, Since: now.Add(time.Minute)}
	tests := map[string]struct {
		tell func(*status.Board)
		want vmcp.State
	}{
		"a state that began later":                {func(b *status.Board) { b.Set(report(ready)); b.Set(report(failedLater)) }, vmcp.Failed},
		"not an old one that another session has": {func(b *status.Board) { b.Set(report(failedLater)); b.Set(report(ready)) }, vmcp.Failed},
		"what has just happened, however long ago its state began": {
			func(b *status.Board) { b.Set(report(failedLater)); b.Update(ready) }, vmcp.Ready},
		"a report, however old, over nothing": {func(b *status.Board) { b.Keep([]string{"a"}); b.Set(report(ready)) }, vmcp.Ready},
		"the later of two with the same beginning": {func(b *status.Board) {
			b.Set(report(ready))
			again := ready
			again.State = vmcp.Degraded
			b.Set(report(again))
		}, vmcp.Degraded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := status.NewBoard("v1")
			tt.tell(b)
			assert.Equal(t, tt.want, backendsOf(b)[0].State)
		})
	}
}

func TestKeepSaysWhichBackendsThereAreAndInWhichOrder(t *testing.T) {
	t.Parallel()
	b := status.NewBoard("v1")
	b.Set(report(vmcp.BackendReport{ID: "a", State: vmcp.Ready}, vmcp.BackendReport{ID: "b", State: vmcp.Ready}))
	assert.Equal(t, []string{"a", "b"}, idsOf(b))

	b.Keep([]string{"c", "b"})
	assert.Equal(t, []string{"c", "b"}, idsOf(b))
	assert.Equal(t, vmcp.Connecting, backendsOf(b)[0].State, "nobody has reported it yet")
	assert.WithinDuration(t, time.Now(), backendsOf(b)[0].Since, time.Minute)
	assert.Equal(t, vmcp.Ready, backendsOf(b)[1].State)

	b.Update(vmcp.BackendReport{ID: "a", State: vmcp.Failed})
	assert.Equal(t, []string{"c", "b"}, idsOf(b), "an old session still reports what is gone")
}

func TestWhoWatchesABoardIsToldOfChangesOnly(t *testing.T) {
	t.Parallel()
	now := time.Now()
	b := status.NewBoard("v1")
	told := func(change func()) bool {
		_, changed := b.Current()
		change()
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	backend := vmcp.BackendReport{ID: "a", State: vmcp.Failed, Since: now, Err: errors.New("no")}
	assert.True(t, told(func() { b.Update(backend) }))
	assert.False(t, told(func() { b.Update(backend) }), "the same again")
	assert.False(t, told(func() { b.Set(report(backend)) }), "the same from another session")
	backend.Err = errors.New("another error with the same words")
	assert.False(t, told(func() { b.Update(backend) }))
	backend.Attempts++
	assert.True(t, told(func() { b.Update(backend) }))
	assert.True(t, told(func() { b.SetSessions(2) }))
	assert.False(t, told(func() { b.SetSessions(2) }))
	assert.True(t, told(func() { b.Keep([]string{"a", "b"}) }))
	assert.False(t, told(func() { b.Keep([]string{"a", "b"}) }))
}

func TestADocumentSaysOfWhichProgramItIs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := status.NewBoard("v1.2.3")
		b.SetSessions(7)
		<-time.After(time.Hour)
		document, _ := b.Current()
		assert.Equal(t, status.Document{Version: "v1.2.3", StartedAt: time.Now().Add(-time.Hour).UTC().Round(0),
			State: vmcp.Connecting, Sessions: 7, Backends: []vmcp.BackendReport{}}, document)
	})
}

func TestABoardCanBeUsedByManyAtOnce(t *testing.T) {
	t.Parallel()
	b := status.NewBoard("v1")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				b.Set(fleet(time.Now()))
				b.Update(vmcp.BackendReport{ID: "slow", Attempts: i})
				b.Keep([]string{"slow", "drawio"})
				b.SetSessions(i)
				assert.NotEmpty(t, backendsOf(b))
			}
		})
	}
	all.Wait()
	assert.Equal(t, []string{"slow", "drawio"}, idsOf(b))
}
