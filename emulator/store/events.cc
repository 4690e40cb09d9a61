// Event methods of SqliteStore.
#include <utility>
#include <vector>

#include "emulator/store/sqlite_store.h"

namespace penstock::emulator::store {

Result<std::vector<StoredEvent>> SqliteStore::ListEvents(std::uint64_t after, int limit) {
  return Read<std::vector<StoredEvent>>([&](Connection& connection) {
    return FindEvents(connection, EventFilter::kAll, after, limit);
  });
}

Result<std::vector<StoredEvent>> SqliteStore::ListUndelivered(std::uint64_t after, int limit) {
  return Read<std::vector<StoredEvent>>([&](Connection& connection) {
    return FindEvents(connection, EventFilter::kUndelivered, after, limit);
  });
}

// Admitted on a full disk: it takes no space, and otherwise the events would be sent again and
// again.
Result<void> SqliteStore::MarkDelivered(const std::vector<std::uint64_t>& numbers) {
  const auto mark = [&](WriteTransaction& transaction) -> Result<void> {
    for (const std::uint64_t number : numbers)
      PENSTOCK_TRY(MarkDeliveredRow(transaction.connection(), number));
    return Ok();
  };
  return queue_.Run(mark, WriteQueue::Batching::kAllowed, WriteQueue::Purpose::kRemove);
}

Result<void> SqliteStore::RemoveEvents(std::uint64_t last) {
  const auto remove = [&](WriteTransaction& transaction) -> Result<void> {
    row_memory_.Release(transaction, 1);
    return RemoveEventRows(transaction.connection(), last);
  };
  return queue_.Run(remove, WriteQueue::Batching::kAllowed, WriteQueue::Purpose::kRemove);
}

}  // namespace penstock::emulator::store
