// Messages to EventBridge (Amazon S3 User Guide, "EventBridge event message structure").
#ifndef PENSTOCK_EMULATOR_EVENTS_BRIDGE_MESSAGE_H_
#define PENSTOCK_EMULATOR_EVENTS_BRIDGE_MESSAGE_H_

#include <string>
#include <string_view>

#include "emulator/events/message.h"
#include "emulator/store/store.h"

namespace penstock::emulator::events {

// The default event bus of an account: "arn:aws:events:us-east-1:111122223333:event-bus/default".
std::string BridgeArn(std::string_view region, std::string_view account_id);

// `name`: "ObjectCreated:Put". `account_id`: of the bucket's owner.
std::string BridgeMessage(std::string_view name, const Cause& cause,
                          const store::VersionChange& change, std::string_view account_id);

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_BRIDGE_MESSAGE_H_
