// A connection of the fast data plane with what it is doing.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTION_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTION_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/http/direct/direct_connector.h"
#include "client/http/direct/direct_exchange.h"
#include "client/http/direct/direct_socket.h"
#include "client/http/transfer.h"

namespace penstock::http {

// Touched by its I/O thread only.
struct DirectConnection {
  std::string peer;  // scheme, host, port and CA bundle: who may use it
  std::unique_ptr<ConnectHandle> handle;
  std::optional<DirectSocket> socket;  // once connected
  DirectExchange exchange;
  TransferPtr transfer;  // null: idle
  PeerAddress address;   // once connected
  MonotonicTime made{};
  MonotonicTime idle_since{};
  MonotonicTime continue_by = MonotonicTime::max();  // the body goes out then
  std::uint32_t watched = 0;                         // epoll events asked for
  bool reused = false;                               // the transfer is not its first
  bool in_again = false;
  bool expects = true;  // may send Expect: 100-continue
  bool dropped = false;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_CONNECTION_H_
