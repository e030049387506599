package gateway

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/fnv"

	"github.com/mark3labs/mcp-go/mcp"
)

// pageSize is how many items of a list go into one answer. Few clients ask for
// a second page, and few sessions need one.
const pageSize = 1_000

func (c *call) listTools() (any, error) {
	tools := c.session.Tools()
	if c.hasStatusTool() {
		tools = append(tools, statusTool)
	}
	for i := range tools {
		tools[i].Execution = nil // tasks are not handed on
	}
	result := &mcp.ListToolsResult{}
	var err error
	result.Tools, err = page(c, tools, &result.PaginatedResult, func(t *mcp.Tool) string { return t.Name })
	return result, err
}

func (c *call) listPrompts() (any, error) {
	if !c.keeps().prompts {
		return nil, unknownMethod(c.Request)
	}
	result := &mcp.ListPromptsResult{}
	var err error
	result.Prompts, err = page(c, c.session.Prompts(), &result.PaginatedResult, func(p *mcp.Prompt) string { return p.Name })
	return result, err
}

func (c *call) listResources() (any, error) {
	if !c.keeps().resources {
		return nil, unknownMethod(c.Request)
	}
	result := &mcp.ListResourcesResult{}
	var err error
	result.Resources, err = page(c, c.session.Resources(), &result.PaginatedResult, func(r *mcp.Resource) string { return r.URI })
	return result, err
}

func (c *call) listTemplates() (any, error) {
	if !c.keeps().resources {
		return nil, unknownMethod(c.Request)
	}
	result := &mcp.ListResourceTemplatesResult{}
	var err error
	result.ResourceTemplates, err = page(c, c.session.ResourceTemplates(), &result.PaginatedResult,
		func(t *mcp.ResourceTemplate) string { return t.URITemplate.Raw() })
	return result, err
}

// page returns the page of a list that the request's cursor asks for, and says
// beside it what comes next and what the list lacks.
func page[T any](c *call, items []T, beside *mcp.PaginatedResult, id func(*T) string) ([]T, error) {
	var params mcp.PaginatedParams
	if err := c.Decode(&params); err != nil {
		return nil, err
	}
	if lacking := missingFrom(c.session.Report(), c.Method); len(lacking) > 0 {
		beside.EnsureResultMeta().SetMetaField(MissingKey, lacking)
	}
	if len(items) <= pageSize && params.Cursor == "" {
		return append([]T{}, items...), nil // [] is a list, and null is none
	}
	ids := fnv.New64a()
	for i := range items {
		fmt.Fprintf(ids, "%q", id(&items[i]))
	}
	from, err := position(params.Cursor, ids.Sum64(), len(items))
	if err != nil {
		return nil, err
	}
	to := min(from+pageSize, len(items))
	if to < len(items) {
		beside.NextCursor = cursor(to, ids.Sum64())
	}
	return items[from:to], nil
}

// cursor names a position in a list of those contents.
func cursor(position int, contents uint64) mcp.Cursor {
	raw := binary.BigEndian.AppendUint64(nil, contents)
	return mcp.Cursor(base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(raw, uint32(position)))) //nolint:gosec // no list is that long
}

// position is where a cursor points to. One of a list that has changed since
// points nowhere: going on there would skip something in silence.
func position(c mcp.Cursor, contents uint64, length int) (int, error) {
	if c == "" {
		return 0, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(string(c))
	if err != nil || len(raw) != 12 {
		return 0, fmt.Errorf("%w: the cursor is not one of this server's", mcp.ErrInvalidParams)
	}
	at := int(binary.BigEndian.Uint32(raw[8:]))
	if binary.BigEndian.Uint64(raw) != contents || at >= length {
		return 0, fmt.Errorf("%w: the list has changed since that cursor; begin without one", mcp.ErrInvalidParams)
	}
	return at, nil
}
