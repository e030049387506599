package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// exclusive refuses a flag together with one of the others.
func exclusive(command *cobra.Command, flag string, others ...string) error {
	if !command.Flags().Changed(flag) {
		return nil
	}
	for _, other := range others {
		if command.Flags().Changed(other) {
			return fmt.Errorf("--%s and --%s exclude each other: give one", flag, other)
		}
	}
	return nil
}
