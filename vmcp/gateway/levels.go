package gateway

import (
	"context"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/vmcp"
	"github.com/mcp-candor/candor/vmcp/gateway/internal/endpoint"
)

// levelTimeout is how long a request waits for backends that take their time
// to accept a level: what it asks may concern another one.
const levelTimeout = time.Second

// wantsLogs takes down that a request wants log messages of a level, until done
// is called, and asks the backends for them. That one refuses does not cost the
// caller its answer.
func (c *caller) wantsLogs(ctx context.Context, request *endpoint.Request) (done func()) {
	level := request.Client.Level()
	if !request.Client.Modern() || !vmcp.ValidLevel(level) {
		return func() {}
	}
	c.mu.Lock()
	c.logging[request] = true
	enough := c.sends(level)
	c.mu.Unlock()
	if !enough {
		c.lowerBeside(ctx, level)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.logging, request)
	}
}

// lowerBeside asks for a level and waits for that, but not for long.
func (c *caller) lowerBeside(ctx context.Context, level mcp.LoggingLevel) {
	ctx, cancel := context.WithTimeout(ctx, levelTimeout)
	if !c.gateway.running.Go(func() {
		defer cancel()
		if err := c.lower(c.gateway.life, level); err != nil {
			c.gateway.Logger.Warn("not every backend takes the level of log messages", events.KeyEvent, events.SetLevelFailed, events.KeyError, err.Error())
		}
	}) {
		cancel()
	}
	<-ctx.Done()
}

// lower asks the backends for a level, or for the lowest that was asked for so
// far: they know one caller, which may have several connections.
func (c *caller) lower(ctx context.Context, level mcp.LoggingLevel) error {
	select { // one after the other: the lowest must be the last
	case c.leveling <- struct{}{}:
		defer func() { <-c.leveling }()
	case <-ctx.Done():
		return ctx.Err()
	}
	c.mu.Lock()
	if !c.sends(level) {
		c.level = level
	}
	lowest := c.level
	c.mu.Unlock()
	return c.session.SetLevel(ctx, lowest)
}

// sends says whether the backends were asked for that much. The mutex is held.
func (c *caller) sends(level mcp.LoggingLevel) bool {
	return c.level != "" && level.ShouldSendTo(c.level)
}
