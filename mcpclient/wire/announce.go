package wire

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// announce tells the exchange of a request's context where the request goes
// and, where nobody above does, which one it is.
func announce(req *http.Request, sent message) *Exchange {
	exchange := ExchangeOf(req.Context())
	if exchange == nil {
		return nil
	}
	peer := Peer{Transport: "tcp", Protocol: "http"}
	if first := firstRequest(req); first != nil {
		peer.Address, peer.Port = hostOf(first.URL)
	}
	exchange.Reached(peer)
	if !exchange.isOwned() && sent.ID.value != nil {
		id, session := fmt.Sprint(sent.ID.value), req.Header.Get("Mcp-Session-Id")
		exchange.each(func(each *Exchange) { each.known.begin(id, session) })
	}
	return exchange
}

func hostOf(u *url.URL) (host string, number int) {
	if u == nil {
		return "", 0
	}
	number, _ = strconv.Atoi(port(u)) // 0 where the scheme has no port
	return u.Hostname(), number
}

// answered tells the exchange with which status the answer came, and in which
// version of HTTP.
func (e *Exchange) answered(resp *http.Response) {
	if e == nil {
		return
	}
	version := ""
	if resp.ProtoMajor != 0 {
		version = strings.TrimSuffix(fmt.Sprintf("%d.%d", resp.ProtoMajor, resp.ProtoMinor), ".0")
	}
	e.each(func(each *Exchange) {
		each.known.Status = resp.StatusCode
		each.known.Peer.ProtocolVersion = cmp.Or(version, each.known.Peer.ProtocolVersion)
	})
}
