// Pages of listings as Python objects. All functions need the GIL.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_PAGES_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_PAGES_H_

#include <pybind11/pybind11.h>

#include "penstock/object_store.h"

namespace penstock::python {

// (objects as ObjectInfo, common prefixes, next token).
pybind11::tuple PageToPython(const ListObjectsResponse& page);
// (versions as tuples, common prefixes, next key marker, next version id marker).
pybind11::tuple PageToPython(const ListObjectVersionsResponse& page);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_LISTING_PAGES_H_
