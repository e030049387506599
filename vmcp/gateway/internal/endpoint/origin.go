package endpoint

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// crossOrigin refuses what a page of another origin makes a browser send, as
// the protocol demands
// (https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning).
var crossOrigin = http.NewCrossOriginProtection()

// CheckOrigin returns why a request must be refused with status 403: a page of
// another origin made a browser send it, or it came to a loopback address under
// a name that is not loopback, as after a rebinding of that name.
func CheckOrigin(r *http.Request) error {
	if err := crossOrigin.Check(r); err != nil {
		return err
	}
	if origin := r.Header.Get("Origin"); origin != "" && !sameHost(origin, r.Host) {
		return fmt.Errorf("the Origin %q is not that of this server", origin)
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if ok && isLoopback(local.String()) && !isLoopback(r.Host) {
		return fmt.Errorf("the Host %q is not a loopback address, and this is", r.Host)
	}
	return nil
}

// sameHost compares without the scheme: TLS may end in front of this server.
func sameHost(origin, host string) bool {
	_, name, _ := strings.Cut(origin, "://")
	return strings.EqualFold(name, host)
}

// isLoopback says whether an address, with or without a port, is one of this
// machine's own.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}
