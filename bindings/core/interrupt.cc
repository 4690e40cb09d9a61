#include "bindings/core/interrupt.h"
#include "bindings/core/gil.h"

#include <pybind11/pybind11.h>

namespace penstock::python {

bool SignalPending() {
  const HeldGil gil;
  return PyErr_CheckSignals() != 0;
}

}  // namespace penstock::python
