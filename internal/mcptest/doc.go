// Package mcptest is what the tests of several packages share: a log and a meter whose records can be looked at,
// and a deadline for what does not take long.
package mcptest
