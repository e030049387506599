package config

import "fmt"

// Size is a number of bytes in the largest unit that it is a multiple of.
func Size(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}

// numberOf is the number as a file has it, and its size.
func numberOf(n int64) string { return fmt.Sprintf("%d (%s)", n, Size(n)) }
