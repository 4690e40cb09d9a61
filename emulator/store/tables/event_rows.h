// Events as rows of `events` (schema.cc). They are stored in the transaction of the change that
// they report, so that a commit has both or neither.
#ifndef PENSTOCK_EMULATOR_STORE_TABLES_EVENT_ROWS_H_
#define PENSTOCK_EMULATOR_STORE_TABLES_EVENT_ROWS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/store/records/records.h"
#include "emulator/store/sqlite/sqlite.h"
#include "emulator/store/tables/object_writes.h"

namespace penstock::emulator::store {

// Newer events replace the oldest ones beyond this number.
inline constexpr std::uint64_t kMostEvents = 100'000;

// Notifies `signal` after the commit.
Result<void> AddEvents(WriteTransaction& transaction, std::span<const Event> events,
                       ChangeSignal& signal);
// Appends the events that `maker`, if set, returns for the change of `version`.
void AppendEvents(const ObjectWrite& write, const EventMaker& maker, const ObjectRecord& version,
                  std::vector<Event>& events);
// Stores these events.
Result<void> RecordEvents(const ObjectWrite& write, const EventMaker& maker,
                          const ObjectRecord& version);
// The same for a deletion that was done. No event if it deleted nothing.
Result<void> RecordDeletion(const ObjectWrite& write, const DeleteObject& request,
                            const DeleteOutcome& outcome);

enum class EventFilter { kAll, kUndelivered };
// At most `limit` events with a number above `after`.
Result<std::vector<StoredEvent>> FindEvents(Connection& connection, EventFilter filter,
                                            std::uint64_t after, int limit);
Result<void> MarkDeliveredRow(Connection& connection, std::uint64_t number);
Result<void> RemoveEventRows(Connection& connection, std::uint64_t last);

}  // namespace penstock::emulator::store

#endif  // PENSTOCK_EMULATOR_STORE_TABLES_EVENT_ROWS_H_
