// Converts ClientStats to a plain dict.
#ifndef PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_

#include <pybind11/pybind11.h>

#include "penstock/stats.h"

namespace penstock::python {

// The dict is documented at S3Client.stats(); times are in seconds. Needs the GIL.
pybind11::dict StatsToPython(const ClientStats& stats);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_
