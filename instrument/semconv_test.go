package instrument_test

import (
	"testing"

	"github.com/mcp-candor/candor/events"
	"github.com/mcp-candor/candor/instrument"
	"github.com/stretchr/testify/assert"
)

// Package events imports nothing of ours, and so writes the names out.
func TestTheKeysOfTheLogNameTheAttributesAsTheyAre(t *testing.T) {
	t.Parallel()
	var named []string
	for _, key := range events.Keys {
		if key.Attribute != "" {
			named = append(named, key.Attribute)
		}
	}
	assert.ElementsMatch(t, instrument.Attributes, named)
}

func TestEveryInstrumentHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, i := range instrument.All {
		assert.False(t, names[i.Name], i.Name)
		assert.NotEmpty(t, i.Unit, i.Name)
		assert.NotEmpty(t, i.Description, i.Name)
		names[i.Name] = true
	}
}
