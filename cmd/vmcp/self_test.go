package main

import "os"

// mainVariable makes the test binary the command itself.
const mainVariable = "VMCP_TEST_MAIN"

// beMain is for TestMain.
func beMain() {
	if os.Getenv(mainVariable) != "" {
		main() // which exits
	}
}
