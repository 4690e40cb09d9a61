// The connections of one I/O thread, by whom they lead to: those in use, and the idle ones for the
// next request.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_POOL_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_POOL_H_

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "client/http/direct/direct_connection.h"

namespace penstock::http {

// Who a connection for this request leads to.
std::string PeerOf(const Request& request);

struct DirectPoolOptions {
  std::size_t max_idle = 256;
  std::chrono::seconds max_idle_age{4};
  std::chrono::seconds max_lifetime{300};
};

// Thread safety: belongs to one I/O thread.
class DirectPool {
 public:
  explicit DirectPool(DirectPoolOptions options) : options_(options) {}

  DirectConnection& Add(std::unique_ptr<DirectConnection> connection);
  // Out of the pool, whatever it is doing.
  std::unique_ptr<DirectConnection> Remove(DirectConnection& connection);

  // The idle connection that was used last; null when there is none. Too old ones go to `expired`
  // instead.
  DirectConnection* TakeIdle(const std::string& peer, MonotonicTime now,
                             std::vector<std::unique_ptr<DirectConnection>>& expired);
  // The idle ones that are too old.
  void TakeExpired(MonotonicTime now, std::vector<std::unique_ptr<DirectConnection>>& expired);
  // No idle one is too old before; may be early.
  MonotonicTime next_expiry() const { return next_expiry_; }
  // For the next request. Beyond max_idle, the one that waits longest leaves the pool; else null.
  std::unique_ptr<DirectConnection> PutIdle(DirectConnection& connection, MonotonicTime now);

  std::size_t size() const { return all_.size(); }
  std::size_t idle() const { return idle_count_; }

 private:
  MonotonicTime ExpiryOf(const DirectConnection& connection) const;
  void ForgetIdle(DirectConnection& connection);

  const DirectPoolOptions options_;
  std::unordered_map<DirectConnection*, std::unique_ptr<DirectConnection>> all_;
  // by peer, longest idle first
  std::unordered_map<std::string, std::vector<DirectConnection*>> idle_;
  std::size_t idle_count_ = 0;
  MonotonicTime next_expiry_ = MonotonicTime::max();
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_POOL_H_
