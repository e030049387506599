package connect

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParametersThatCannotHaveMetaStayAsTheyAre(t *testing.T) {
	t.Parallel()
	more := map[string]string{"k": "v"}
	for _, params := range []any{[]int{1}, "text", func() {}, map[string]any{"_meta": "text"}} {
		if _, isFunc := params.(func()); isFunc {
			assert.NotNil(t, withMeta(params, more))
			continue
		}
		assert.Equal(t, params, withMeta(params, more))
	}
	assert.Nil(t, withMeta(nil, nil), "nothing to add")
}
