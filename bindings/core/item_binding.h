// The loader of distributed checkpoints.
#ifndef PENSTOCK_BINDINGS_CORE_ITEM_BINDING_H_
#define PENSTOCK_BINDINGS_CORE_ITEM_BINDING_H_

#include <pybind11/pybind11.h>

namespace penstock::python {

void BindItems(pybind11::module_& module);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_ITEM_BINDING_H_
