// Observers and retry policies of Python. Defined in bindings/core/events.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_EVENTS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_EVENTS_H_

#include <pybind11/pybind11.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

#include "penstock/client.h"

namespace penstock::python {

// Counts the attempts that an observer did not receive, because too many waited for it. Shared: an
// attempt may end after the client.
using DroppedEvents = std::shared_ptr<std::atomic<std::uint64_t>>;

// `client` is the number of the client in penstock/_events.py. The results run on I/O threads and
// take no GIL.
std::function<void(const RequestEvent&)> MakeObserver(std::uint64_t client, DroppedEvents dropped);
AsyncRetryPolicy MakeRetryPolicy(std::uint64_t client);

void BindEvents(pybind11::module_& module);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_CLIENT_EVENTS_H_
