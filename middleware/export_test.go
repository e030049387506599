package middleware

// AllInstruments are the name, unit and description of each, for the
// documentation.
func AllInstruments() [][3]string {
	var all [][3]string
	for _, i := range []instrument{
		clientOperationDuration, clientSessionDuration, serverOperationDuration, serverSessionDuration, clientActiveRequests,
		contradictionCount, malformedListCount, protocolFallbackCount, backendCount, sessionSetupDuration,
	} {
		all = append(all, [3]string{i.name, i.unit, i.description})
	}
	return all
}
