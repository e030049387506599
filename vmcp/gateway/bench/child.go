package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mcp-candor/candor/mcpclient/connect"
)

// child is vmcp serve, running.
type child struct {
	*program
	url, dir string
}

// startChild starts vmcp serve before the targets and returns it once it has
// said where it listens.
func (p plan) startChild(ctx context.Context, targets []connect.Target) (*child, error) {
	dir, err := os.MkdirTemp("", "bench-gateway")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "mcp.json")
	if err := writeConfig(config, targets); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	serving, err := start(ctx, p.vmcp, "serve", "--config", config, "--listen", "127.0.0.1:0", "--log-level", "error")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	c := &child{program: serving, url: serving.next(), dir: dir}
	if c.url == "" {
		return nil, errors.Join(fmt.Errorf("%s serve named no endpoint", p.vmcp), c.stop(), errors.New(c.log.String()))
	}
	return c, nil
}

func (c *child) stop() error { return errors.Join(c.program.stop(), os.RemoveAll(c.dir)) }

func writeConfig(file string, targets []connect.Target) error {
	servers := map[string]any{}
	for i, target := range targets {
		switch target := target.(type) {
		case connect.HTTP:
			servers[backendID(i)] = map[string]any{"type": "http", "url": target.URL}
		case connect.Stdio:
			servers[backendID(i)] = map[string]any{"command": target.Command, "args": target.Args}
		}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}
