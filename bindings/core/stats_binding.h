// ClientStats as a plain dict.
#ifndef PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_

#include <pybind11/pybind11.h>

#include "penstock/stats.h"

namespace penstock::python {

// As S3Client.stats() documents it; times are seconds. Needs the GIL.
pybind11::dict StatsToPython(const ClientStats& stats);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_STATS_BINDING_H_
