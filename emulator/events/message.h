// Event messages in the JSON of Amazon S3 (User Guide, "Event message structure").
#ifndef PENSTOCK_EMULATOR_EVENTS_MESSAGE_H_
#define PENSTOCK_EMULATOR_EVENTS_MESSAGE_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emulator/events/notification_rules.h"
#include "emulator/store/store.h"
#include "penstock/base/clock.h"

namespace penstock::emulator::events {

// The request, or the lifecycle run, that caused an event.
struct Cause {
  std::string principal_id;
  std::string source_ip;
  std::string request_id;
  std::string host_id;
  std::string region;     // the bucket's
  std::string requester;  // the account id, or the name of a service
};

// The sequencer of a write: fixed width, because consumers compare those of one key as texts.
std::string Sequencer(std::int64_t sequence);
// Lifecycle runs have no request; their changes get an id made from the sequencer.
std::string RequestIdOf(const Cause& cause, const store::VersionChange& change);

// The message for one rule. `name`: "ObjectCreated:Put". The key is encoded as in a form, without
// the slashes.
std::string EventMessage(std::string_view name, const Cause& cause,
                         const store::VersionChange& change, const NotificationRules::Rule& rule);

// The message that S3 sends to the destinations of a new configuration.
std::string TestMessage(std::string_view bucket, const Cause& cause, WallTime time);

// Returns one line of JSON (docs/reference/admin-api.md). `after`: where the reading began.
std::string EventsJson(std::string_view name_space, std::uint64_t after,
                       std::span<const store::StoredEvent> events);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_MESSAGE_H_
