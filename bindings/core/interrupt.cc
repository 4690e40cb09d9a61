#include "bindings/core/interrupt.h"

#include <pybind11/pybind11.h>

namespace penstock::python {

bool SignalPending() {
  const pybind11::gil_scoped_acquire gil;
  return PyErr_CheckSignals() != 0;
}

}  // namespace penstock::python
