#include "emulator/store/sqlite/connection_pool.h"

#include "base/log/caught.h"
#include "base/log/diagnostics.h"

namespace penstock::emulator::store {

std::unique_ptr<Connection> ConnectionPool::TakeIdle() {
  const MutexLock lock(mutex_);
  while (idle_.empty() && open_ == limit_) returned_.WaitIdle(mutex_);
  if (!idle_.empty()) {
    std::unique_ptr<Connection> connection = std::move(idle_.back());
    idle_.pop_back();
    return connection;
  }
  idle_.reserve(static_cast<std::size_t>(open_) + 1);  // so that Return does not allocate
  ++open_;
  return nullptr;
}

Result<ConnectionPool::Lease> ConnectionPool::Take() {
  if (std::unique_ptr<Connection> idle = TakeIdle()) {
    Lease lease(*this, std::move(idle));
    // True if the rollback in Return failed for lack of memory.
    if ((*lease).InTransaction()) PENSTOCK_TRY((*lease).Execute("ROLLBACK"));
    return lease;
  }
  auto opened = [this]() -> Result<std::unique_ptr<Connection>> {
    try {
      return opener_();
    } catch (...) {  // below, open_ is decremented for an exception as for an error
      return CurrentExceptionError();
    }
  }();
  if (!opened.ok()) {
    const MutexLock lock(mutex_);
    --open_;
    returned_.NotifyOne();
    return std::move(opened).error();
  }
  return Lease(*this, std::move(opened).value());
}

// Called by destructors.
void ConnectionPool::Return(std::unique_ptr<Connection> connection) noexcept {
  // An exception of the last user left a transaction open. It must end before the next use.
  if (connection->InTransaction()) {
    Contain("the rollback of a transaction",
            [&] { static_cast<void>(connection->Execute("ROLLBACK").ok()); });
  }
  const MutexLock lock(mutex_);
  idle_.push_back(std::move(connection));
  returned_.NotifyOne();
}

}  // namespace penstock::emulator::store
