#include "client/http/reactor/connection_pool.h"

#include <algorithm>
#include <utility>

#include "client/http/uri.h"

namespace penstock::http {

std::string PeerOf(const Request& request, const std::optional<EnvironmentProxy>& proxy) {
  const std::string authority = Authority(request.endpoint);
  std::string peer;  // built for every request: one allocation
  peer.reserve(request.endpoint.scheme.size() + authority.size() + request.ca_bundle_path.size() +
               4);
  peer.append(request.endpoint.scheme)
      .append("://")
      .append(authority)
      .append("\n")
      .append(request.ca_bundle_path);
  if (request.connect != nullptr) peer.append("\n").append(request.connect->PoolKey());
  if (proxy) peer.append("\n").append(proxy->url);
  return peer;
}

Connection& ConnectionPool::Add(std::unique_ptr<Connection> connection) {
  Connection& added = *connection;
  all_.emplace(&added, std::move(connection));
  return added;
}

std::unique_ptr<Connection> ConnectionPool::Remove(Connection& connection) {
  if (connection.transfer == nullptr) ForgetIdle(connection);
  const auto found = all_.find(&connection);
  if (found == all_.end()) return nullptr;
  std::unique_ptr<Connection> removed = std::move(found->second);
  all_.erase(found);
  return removed;
}

Connection* ConnectionPool::TakeIdle(const std::string& peer, MonotonicTime now,
                                     std::vector<std::unique_ptr<Connection>>& expired) {
  const auto found = idle_.find(peer);
  if (found == idle_.end()) return nullptr;
  // Prefers the most recently used connection, because the peer is least likely to have closed it.
  // If it has expired, older ones have too, unless its lifetime ended; those are checked in turn.
  while (!found->second.empty()) {
    Connection* const last = found->second.back();
    if (now < ExpiryOf(*last)) {
      ForgetIdle(*last);
      return last;
    }
    expired.push_back(Remove(*last));
  }
  return nullptr;
}

void ConnectionPool::TakeExpired(MonotonicTime now,
                                 std::vector<std::unique_ptr<Connection>>& expired) {
  std::vector<Connection*> old;
  next_expiry_ = MonotonicTime::max();
  for (const auto& [peer, connections] : idle_) {
    for (Connection* const connection : connections) {
      const MonotonicTime expiry = ExpiryOf(*connection);
      if (expiry <= now) {
        old.push_back(connection);
      } else {
        next_expiry_ = std::min(next_expiry_, expiry);
      }
    }
  }
  for (Connection* const connection : old) expired.push_back(Remove(*connection));
}

std::unique_ptr<Connection> ConnectionPool::PutIdle(Connection& connection, MonotonicTime now) {
  connection.idle_since = now;
  idle_[connection.peer].push_back(&connection);
  ++idle_count_;
  next_expiry_ = std::min(next_expiry_, ExpiryOf(connection));
  if (idle_count_ <= options_.max_idle) return nullptr;
  Connection* longest = &connection;
  for (const auto& [peer, connections] : idle_) {
    if (!connections.empty() && connections.front()->idle_since < longest->idle_since)
      longest = connections.front();
  }
  return Remove(*longest);
}

MonotonicTime ConnectionPool::ExpiryOf(const Connection& connection) const {
  return std::min(connection.idle_since + options_.max_idle_age,
                  connection.made + options_.max_lifetime);
}

void ConnectionPool::ForgetIdle(Connection& connection) {
  const auto found = idle_.find(connection.peer);
  if (found == idle_.end()) return;
  idle_count_ -= std::erase(found->second, &connection);
  // An empty pool has no expiry. Otherwise the time would be in the past forever, and the I/O
  // thread would not sleep.
  if (idle_count_ == 0) next_expiry_ = MonotonicTime::max();
}

}  // namespace penstock::http
