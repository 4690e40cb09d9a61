// Event methods of SqliteStore.
#include <utility>
#include <vector>

#include "emulator/store/sqlite_store.h"

namespace penstock::emulator::store {

Result<std::vector<StoredEvent>> SqliteStore::ListEvents(std::uint64_t after, int limit) {
  return Read<std::vector<StoredEvent>>(
      [&](Connection& connection) { return FindEvents(connection, after, limit); });
}

Result<void> SqliteStore::RemoveEvents(std::uint64_t last) {
  const auto remove = [&](WriteTransaction& transaction) -> Result<void> {
    row_memory_.Release(transaction, 1);
    return RemoveEventRows(transaction.connection(), last);
  };
  return queue_.Run(remove, WriteQueue::Batching::kAllowed, WriteQueue::Purpose::kRemove);
}

}  // namespace penstock::emulator::store
