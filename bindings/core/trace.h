// PENSTOCK_TRACE=FILE: one JSON line per attempt of a request, appended as it ends. Several
// processes may share a file.
#ifndef PENSTOCK_BINDINGS_CORE_TRACE_H_
#define PENSTOCK_BINDINGS_CORE_TRACE_H_

#include "penstock/client.h"

namespace penstock::python {

// Attaches the tracer to `client` when the environment asks for it. A file that cannot be opened is
// an error.
Result<void> AttachTrace(Client& client);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_TRACE_H_
