// Calls that event loops await. Defined in bindings/core/aio.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_EVENT_LOOPS_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_EVENT_LOOPS_H_

#include <pybind11/pybind11.h>

namespace penstock::python {

void BindEventLoops(pybind11::module_& module);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_EVENT_LOOPS_H_
