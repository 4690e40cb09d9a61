// A pool of connections. Each is used by one thread at a time.
#ifndef PENSTOCK_EMULATOR_STORE_SQLITE_CONNECTION_POOL_H_
#define PENSTOCK_EMULATOR_STORE_SQLITE_CONNECTION_POOL_H_

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "emulator/store/sqlite/sqlite.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::store {

// Thread safety: any thread. Must outlive its leases.
class ConnectionPool {
 public:
  using Opener = std::function<Result<std::unique_ptr<Connection>>()>;
  // Opens up to `limit` connections, each when it is first needed.
  ConnectionPool(int limit, Opener opener) : limit_(limit), opener_(std::move(opener)) {}
  // A pool of one connection.
  explicit ConnectionPool(std::unique_ptr<Connection> only) : limit_(1), open_(1) {
    idle_.push_back(std::move(only));
  }

  // Holds a connection and returns it to the pool when destroyed.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    ~Lease() {
      if (connection_ != nullptr) pool_->Return(std::move(connection_));
    }
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    Connection& operator*() const { return *connection_; }

   private:
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };
  // Waits while all connections are in use. Callers must hold a lease for no longer than one query
  // or one batch of writes.
  Result<Lease> Take();

 private:
  // Null: no connection is idle, and the caller has reserved the place of a new one.
  std::unique_ptr<Connection> TakeIdle() PENSTOCK_EXCLUDES(mutex_);
  void Return(std::unique_ptr<Connection> connection) noexcept;

  const int limit_;
  const Opener opener_;
  Mutex mutex_;
  CondVar returned_;
  int open_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  std::vector<std::unique_ptr<Connection>> idle_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_SQLITE_CONNECTION_POOL_H_
