// penstock._core: C++ operations and transfers for the Python package. Independent of torch.
#include <pybind11/pybind11.h>

#include <string>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_events.h"
#include "bindings/core/client/event_loops.h"
#include "bindings/core/errors.h"
#include "bindings/core/gil.h"

namespace penstock::python {

const char* const kExceptionModule = "penstock._exceptions";

BufferView::BufferView(pybind11::handle object, Access access, const char* name) {
  const int flags = access == Access::kWrite ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) == 0) return;
  const bool is_other = PyErr_ExceptionMatches(PyExc_BufferError) == 0 &&
                        PyErr_ExceptionMatches(PyExc_TypeError) == 0;
  if (name == nullptr || is_other) throw pybind11::error_already_set();
  PyErr_Clear();
  throw pybind11::type_error(std::string(name) + " must be a contiguous " +
                             (access == Access::kWrite ? "and writable buffer" : "buffer") +
                             ", and this " + Py_TYPE(object.ptr())->tp_name + " is not");
}

BufferView::~BufferView() { PyBuffer_Release(&view_); }

}  // namespace penstock::python

PYBIND11_MODULE(_core, module) {
  module.doc() = "C++ core of penstock: client, streams, writers and listings.";
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
}
