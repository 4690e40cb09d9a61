// Sends the events of all open namespaces to their sinks, in the background.
#ifndef PENSTOCK_EMULATOR_EVENTS_DELIVERY_DELIVERER_H_
#define PENSTOCK_EMULATOR_EVENTS_DELIVERY_DELIVERER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "emulator/events/delivery/sink.h"
#include "emulator/events/delivery/sink_address.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/store/system/change_signal.h"
#include "emulator/store/system/descriptor.h"

namespace penstock::emulator::events {

struct Route {
  std::string pattern;  // of ARNs, as in SinkAddress
  std::unique_ptr<Sink> sink;
};

// Opens the files, but no connections. `ca_path`: of WebhookOptions. Returns the errors of
// OpenFileSink, MakeWebhook and CheckAuthorities.
Result<std::vector<Route>> OpenRoutes(const std::vector<SinkAddress>& addresses,
                                      store::Durability durability, const std::string& ca_path);

// An event goes to the first route that matches its destination. Each route has a thread, which
// sends the events of a namespace in their order, and marks each in the store once it is
// acknowledged. After a failure it waits, longer after each, and sends the same events again. A
// sink that fails delays its own events only.
//
// Thread safety: any thread.
class Deliverer {
 public:
  // Returns the open namespaces. Called on the threads of the routes, until the destructor returns.
  using Spaces = std::function<std::vector<std::weak_ptr<s3::Namespace>>()>;

  // `signal` is notified when there are new events, and when a namespace was opened.
  static Result<std::unique_ptr<Deliverer>> Start(std::vector<Route> routes, Spaces spaces,
                                                  std::shared_ptr<store::ChangeSignal> signal);
  // Stops. Waits for the threads up to 3 s. A thread that still resolves a host name then ends
  // later, without using anything of the emulator.
  ~Deliverer();
  Deliverer(const Deliverer&) = delete;
  Deliverer& operator=(const Deliverer&) = delete;

  // Ends the requests in progress. Unacknowledged events stay in the stores.
  void Stop();

 private:
  class Worker;
  Deliverer() = default;

  std::vector<std::shared_ptr<Worker>> workers_;
};

}  // namespace penstock::emulator::events

#endif  // PENSTOCK_EMULATOR_EVENTS_DELIVERY_DELIVERER_H_
