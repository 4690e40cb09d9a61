// PENSTOCK_TRACE=FILE: appends one JSON line per attempt of a request when it ends. Several
// processes may share a file.
#ifndef PENSTOCK_BINDINGS_CORE_TRACE_H_
#define PENSTOCK_BINDINGS_CORE_TRACE_H_

#include "penstock/client.h"

namespace penstock::python {

// Attaches the tracer to `client` if the environment requests it. Returns an error if the file
// cannot be opened.
Result<void> AttachTrace(Client& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_TRACE_H_
