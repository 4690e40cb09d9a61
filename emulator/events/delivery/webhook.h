// A sink that posts each message to an HTTP server.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_WEBHOOK_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_WEBHOOK_H_

#include <chrono>
#include <memory>
#include <string>

#include "emulator/events/delivery/sink.h"
#include "emulator/events/delivery/sink_address.h"

namespace penstock::emulator::events {

struct WebhookOptions {
  // PEM file of the CA certificates for https, read for each connection. Empty: the system's.
  std::string ca_path;
  // For a whole attempt, from the connection to the end of the response.
  std::chrono::milliseconds limit = std::chrono::seconds(10);
};

// One POST per event, with the message as body and the headers x-penstock-destination,
// x-penstock-event (the number) and x-penstock-namespace. A response with a status of 200 to 299
// acknowledges it. Opens no connection before the first event. Send must be called on a thread that
// blocks SIGPIPE. Returns kResourceExhausted without a free descriptor.
Result<std::unique_ptr<Sink>> MakeWebhook(const SinkAddress& address, WebhookOptions options = {});

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_WEBHOOK_H_
