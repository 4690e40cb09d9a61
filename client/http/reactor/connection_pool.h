// The connections of one I/O thread, by peer: connections in use, and idle ones for later requests.
#ifndef PENSTOCK_CLIENT_HTTP_REACTOR_CONNECTION_POOL_H_
#define PENSTOCK_CLIENT_HTTP_REACTOR_CONNECTION_POOL_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/http/exchange/connection.h"

namespace penstock::http {

// Returns the key of the connections that this request can use, through `proxy` if there is one.
std::string PeerOf(const Request& request,
                   const std::optional<EnvironmentProxy>& proxy = std::nullopt);

struct ConnectionPoolOptions {
  std::size_t max_idle = 256;
  std::chrono::seconds max_idle_age{4};
  std::chrono::seconds max_lifetime{300};
};

// Thread safety: belongs to one I/O thread.
class ConnectionPool {
 public:
  explicit ConnectionPool(ConnectionPoolOptions options) : options_(options) {}

  Connection& Add(std::unique_ptr<Connection> connection);
  // Removes the connection from the pool in any state.
  std::unique_ptr<Connection> Remove(Connection& connection);

  // Returns the most recently used idle connection, or null. Expired ones are moved to `expired`.
  Connection* TakeIdle(const std::string& peer, MonotonicTime now,
                       std::vector<std::unique_ptr<Connection>>& expired);
  // Moves expired idle connections to `expired`.
  void TakeExpired(MonotonicTime now, std::vector<std::unique_ptr<Connection>>& expired);
  // No idle connection expires before this time; may be too early.
  MonotonicTime next_expiry() const { return next_expiry_; }
  // Makes the connection available for the next request. If there are more than max_idle, returns
  // the one idle for longest; else null.
  std::unique_ptr<Connection> PutIdle(Connection& connection, MonotonicTime now);

  std::size_t size() const { return all_.size(); }
  std::size_t idle() const { return idle_count_; }

 private:
  MonotonicTime ExpiryOf(const Connection& connection) const;
  void ForgetIdle(Connection& connection);

  const ConnectionPoolOptions options_;
  std::unordered_map<Connection*, std::unique_ptr<Connection>> all_;
  // By peer; longest idle first.
  std::unordered_map<std::string, std::vector<Connection*>> idle_;
  std::size_t idle_count_ = 0;
  MonotonicTime next_expiry_ = MonotonicTime::max();
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_REACTOR_CONNECTION_POOL_H_
