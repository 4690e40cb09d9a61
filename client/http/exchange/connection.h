// A connection and its state.
#ifndef PENSTOCK_CLIENT_HTTP_EXCHANGE_CONNECTION_H_
#define PENSTOCK_CLIENT_HTTP_EXCHANGE_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/http/connect/connected_socket.h"
#include "client/http/connect/connector.h"
#include "client/http/connect/environment_proxy.h"
#include "client/http/exchange/exchange.h"
#include "client/http/exchange/transfer.h"

namespace penstock::http {

// Used by its I/O thread only.
struct Connection {
  std::string peer;  // scheme, host, port, CA bundle and proxy: the requests that may use it
  std::optional<EnvironmentProxy> proxy;  // that forwards unencrypted requests
  std::unique_ptr<ConnectHandle> handle;
  std::optional<ConnectedSocket> socket;  // once connected
  Exchange exchange;
  TransferPtr transfer;  // null: idle
  PeerAddress address;   // once connected
  MonotonicTime made{};
  MonotonicTime idle_since{};
  MonotonicTime continue_by = MonotonicTime::max();   // the body is sent at this time
  MonotonicTime paused_until = MonotonicTime::max();  // the rate allows the next bytes then
  std::uint32_t watched = 0;                          // registered epoll events
  bool reused = false;                                // the transfer is not its first
  bool in_ready = false;
  bool expects = true;  // may use Expect: 100-continue
  bool dropped = false;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_EXCHANGE_CONNECTION_H_
