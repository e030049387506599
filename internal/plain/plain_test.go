package plain_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/mcp-candor/candor/internal/plain"
	"github.com/stretchr/testify/assert"
)

func TestLineIsOneLineInWhichAllIsSeen(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"nothing":                          {"", ""},
		"words":                            {"a tool: größer, 日本", "a tool: größer, 日本"},
		"line ends are one space":          {"  a\r\n\n b\tc\u2028d\u0085e \n", "a b c d e"},
		"escapes of a terminal":            {"a\x1b[2Jb\x00\x7f", "a␛[2Jb␀␡"},
		"control characters of eight bits": {"\u0080\u009b31m", "[U+0080][U+009B]31m"},
		"directions": {"\u202a\u202b\u202c\u202d\u202eexe.txt\u2066\u2067\u2068\u2069\u200f",
			"[U+202A][U+202B][U+202C][U+202D][U+202E]exe.txt[U+2066][U+2067][U+2068][U+2069][U+200F]"},
		"without width":   {"a\u200bb\u2060c\ufeff", "a[U+200B]b[U+2060]c[U+FEFF]"},
		"letters as tags": {"a\U000e0041", "a[U+E0041]"},
		"no UTF-8":        {"a\xffb\xe2\x82", "a\uFFFDb\uFFFD\uFFFD"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, test.want, plain.Line(test.text, 100))
		})
	}
}

func TestLineMarksWhereItWasCut(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "abcd", plain.Line("abcd", 4))
	assert.Equal(t, "abcd...", plain.Line("abcde", 4))
	assert.Equal(t, "ab...", plain.Line("ab cd", 3), "no space before the mark")
	assert.Equal(t, "日本...", plain.Line("日本語", 2), "characters are counted, not bytes")
	assert.Equal(t, "a...", plain.Line("a\u202eb", 8), "a number is shown whole or not at all")
	assert.Equal(t, "...", plain.Line("a", 0))
}

func TestTextKeepsLinesAndTabs(t *testing.T) {
	t.Parallel()
	assert.Equal(t, " a\n\tb  c\n␍␛[2J[U+0085][U+2028]\uFFFD", plain.Text(" a\n\tb  c\r\n\r\x1b[2J\u0085\u2028\xff"))
}

func TestCutSaysHowMuchItLeftOff(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text, beginning string
		most, left      int
	}{
		{"", "", 0, 0},
		{"abc", "abc", 3, 0},
		{"abc", "ab", 2, 1},
		{"日本語", "日", 1, 2},
		{"a\xff\xfe", "a\xff", 2, 1},
	} {
		beginning, left := plain.Cut(test.text, test.most)
		assert.Equal(t, test.beginning, beginning)
		assert.Equal(t, test.left, left, test.text)
	}
}

func TestTailIsTheEndFromAWholeCharacterOn(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "日本", plain.Tail("日本", 6))
	assert.Equal(t, "...本", plain.Tail("日本", 5), "no half of a character")
	assert.Equal(t, "...", plain.Tail("日", 2))
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{"", "a\r\nb", "\x1b[2J\u009b", "\u202eexe\u2066\u200b\ufeff", "a\xff\xe2\x82", "日本語", "\U000e0041"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		most = max(most%1_000, 0)
		line := plain.Line(text, most)
		isPlain(t, line, "")
		isPlain(t, plain.Text(text), "\n\t")
		beginning, cut := strings.CutSuffix(line, "...")
		assert.LessOrEqual(t, utf8.RuneCountInString(beginning), most)
		if !cut {
			assert.Equal(t, line, plain.Line(line, most), "what is plain stays as it is")
		}
		head, left := plain.Cut(text, most)
		assert.True(t, strings.HasPrefix(text, head))
		assert.Equal(t, utf8.RuneCountInString(text[len(head):]), left)
		assert.True(t, strings.HasSuffix(text, strings.TrimPrefix(plain.Tail(text, most), "...")) || strings.HasPrefix(text, "..."))
	})
}

// isPlain asserts that a text is UTF-8 and has nothing that is not seen, but for
// what is allowed.
func isPlain(t *testing.T, text, allowed string) {
	t.Helper()
	assert.True(t, utf8.ValidString(text), "%q", text)
	for _, r := range text {
		if unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Bidi_Control) || r == '\u2028' || r == '\u2029' {
			assert.True(t, strings.ContainsRune(allowed, r), "%q in %q", r, text)
		}
	}
}
