package gateway

import (
	"context"
	"net/http"
	"sync"

	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// lifetime is that of a gateway's sessions, and of what runs beside requests.
type lifetime struct {
	life context.Context // ends with the gateway
	end  context.CancelFunc

	starting sync.Mutex // nothing starts once the waiting has begun
	running  sync.WaitGroup
}

func newLifetime() *lifetime {
	l := &lifetime{}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// start runs f, which must end with life, unless that has ended.
func (l *lifetime) start(f func()) bool {
	l.starting.Lock()
	defer l.starting.Unlock()
	if l.life.Err() != nil {
		return false
	}
	l.running.Go(f)
	return true
}

// stop ends what runs, and waits for it.
func (l *lifetime) stop() {
	l.starting.Lock()
	l.end()
	l.starting.Unlock()
	l.running.Wait()
}

// errShut is what a caller is told who comes too late.
var errShut = &endpoint.Failure{Code: http.StatusServiceUnavailable, Message: "the gateway is shutting down; try again later"}
