#include "emulator/store/tables/event_rows.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace penstock::emulator::store {
namespace {

std::int64_t Bounded(std::uint64_t number) {
  constexpr auto kLargest = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(std::min<std::uint64_t>(number, kLargest));
}

}  // namespace

Result<void> AddEvents(WriteTransaction& transaction, std::span<const Event> events,
                       ChangeSignal& signal) {
  if (events.empty()) return Ok();
  Connection& connection = transaction.connection();
  for (const Event& event : events) {
    Query insert(connection, "INSERT INTO events(destination, message) VALUES(?,?)");
    PENSTOCK_TRY(insert.BindBytes(event.destination).BindBytes(event.message).Run());
  }
  Query prune(connection,
              "DELETE FROM events WHERE number <= (SELECT max(number) FROM events) - ?");
  PENSTOCK_TRY(prune.Bind(Bounded(kMostEvents)).Run());
  transaction.AfterCommit([&signal] { signal.Notify(); });
  return Ok();
}

void AppendEvents(const ObjectWrite& write, const EventMaker& maker, const ObjectRecord& version,
                  std::vector<Event>& events) {
  if (!maker) return;
  for (Event& event : maker({.bucket = *write.bucket.record,
                      .version = version,
                      .created_marker = version.is_delete_marker,
                      .sequence = write.sequence,
                      .time = write.now}))
    events.push_back(std::move(event));
}

Result<void> RecordEvents(const ObjectWrite& write, const EventMaker& maker,
                          const ObjectRecord& version) {
  std::vector<Event> events;
  AppendEvents(write, maker, version, events);
  return AddEvents(write.transaction, events, write.event_signal);
}

Result<void> RecordDeletion(const ObjectWrite& write, const DeleteObject& request,
                            const DeleteOutcome& outcome) {
  if (!request.events || (!outcome.existed && !outcome.created_marker)) return Ok();
  ObjectRecord version;
  version.key = request.key;
  version.version_id = outcome.version_id;
  version.is_delete_marker = outcome.created_marker;
  return RecordEvents(write, request.events, version);
}

Result<std::vector<StoredEvent>> FindEvents(Connection& connection, EventFilter filter,
                                            std::uint64_t after, int limit) {
  Query query(connection,
              "SELECT number, delivered, destination, message FROM events WHERE number > ? AND "
              "delivered <= ? ORDER BY number LIMIT ?");
  query.Bind(Bounded(after)).Bind(filter == EventFilter::kAll ? 1 : 0).Bind(limit);
  std::vector<StoredEvent> events;
  for (;;) {
    PENSTOCK_ASSIGN(const bool found, query.Step());
    if (!found) return events;
    events.push_back({static_cast<std::uint64_t>(query.Int(0)),
                      query.Int(1) != 0,
                      {std::string(query.Bytes(2)), std::string(query.Bytes(3))}});
  }
}

Result<void> MarkDeliveredRow(Connection& connection, std::uint64_t number) {
  Query query(connection, "UPDATE events SET delivered = 1 WHERE number = ?");
  return query.Bind(Bounded(number)).Run();
}

Result<void> RemoveEventRows(Connection& connection, std::uint64_t last) {
  Query query(connection, "DELETE FROM events WHERE number <= ?");
  return query.Bind(Bounded(last)).Run();
}

}  // namespace penstock::emulator::store
