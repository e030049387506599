// Package capability is the one table of what a server may advertise in its
// handshake, and of the methods that come with it.
//
//	capability -> how a server says it
//	           -> its methods -> which of them is a list, and of what
//	                          -> since and until which protocol version
//	                          -> what becomes of -32601 where it was advertised
//
// The rule of tolerance, the lists of a session, the questions of an audit, the
// verification of a connection and what a gateway declares all read it.
//
// The facts are of the specification's versions 2024-11-05 to 2026-07-28, the
// pages "Lifecycle", "Server Features" and their change logs
// (https://modelcontextprotocol.io/specification).
package capability
