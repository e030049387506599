// Package status tells people and programs how the backends of an endpoint
// stand: as JSON, as a page that follows what happens, and as checks of health.
//
// A [Board] gathers what any number of sessions report, and [Handler] serves
// it. Nothing is shown that is not in a [vmcp.Report], the endpoint's address
// aside; secrets are masked there, and nothing here adds one.
package status
