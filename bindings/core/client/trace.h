// PENSTOCK_TRACE=FILE: appends one JSON line per attempt of a request when it ends. Several
// processes may share a file.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_TRACE_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_TRACE_H_

#include <functional>

#include "penstock/client.h"

namespace penstock::python {

// Returns the observer that writes the trace; null if the environment requests none. Returns an
// error if the file cannot be opened.
Result<std::function<void(const RequestEvent&)>> OpenTrace();

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_TRACE_H_
