// penstock._core: C++ operations and transfers for the Python package. Independent of torch.
#include <pybind11/pybind11.h>

#include "bindings/core/bindings.h"
#include "bindings/core/client_events.h"
#include "bindings/core/event_loops.h"
#include "bindings/core/gil.h"

namespace penstock::python {

BufferView::BufferView(pybind11::handle object, Access access) {
  const int flags = access == Access::kWrite ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw pybind11::error_already_set();
}

BufferView::~BufferView() { PyBuffer_Release(&view_); }

}  // namespace penstock::python

PYBIND11_MODULE(_core, module) {
  module.doc() =
      "C++ core of penstock: client, streams, writers, listings and the in-process emulator.";
  module.attr("__version__") = PENSTOCK_VERSION;
  penstock::python::WatchInterpreterEnd();
  penstock::python::BindMemory(module);
  penstock::python::BindEvents(module);
  penstock::python::BindClient(module);
  penstock::python::BindStream(module);
  penstock::python::BindBulkDownload(module);
  penstock::python::BindFetch(module);
  penstock::python::BindRanges(module);
  penstock::python::BindItems(module);
  penstock::python::BindArchives(module);
  penstock::python::BindWriter(module);
  penstock::python::BindLister(module);
  penstock::python::BindPrefetcher(module);
  penstock::python::BindEventLoops(module);
  penstock::python::BindCache(module);
  penstock::python::BindEmulator(module);
}
