// Lister: pages of a listing, one fetched ahead.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings/core/bindings.h"
#include "bindings/core/client_binding.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "bindings/core/object_items.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

class PyLister {
 public:
  explicit PyLister(std::unique_ptr<Lister> lister) : lister_(std::move(lister), "this listing") {}
  PyLister(PyLister&&) = default;

  // (objects as ObjectInfo, common prefixes, next token).
  py::tuple Next() {
    auto result = WithoutGil([&] { return lister_.Get().Next(SignalPending); });
    const std::optional<ListObjectsResponse> page = Unwrap(std::move(result));
    if (!page) throw py::stop_iteration();
    py::list objects(page->objects.size());
    for (std::size_t i = 0; i < page->objects.size(); ++i) {
      objects[i] = MakeObjectInfo(KeyToPython(page->objects[i].key.value), page->objects[i]);
    }
    py::list prefixes(page->common_prefixes.size());
    for (std::size_t i = 0; i < page->common_prefixes.size(); ++i) prefixes[i] = KeyToPython(page->common_prefixes[i]);
    return py::make_tuple(objects, prefixes, page->next_token);
  }

 private:
  ProcessBound<Lister> lister_;
};

}  // namespace

void BindLister(py::module_& module) {
  py::class_<PyLister, std::unique_ptr<PyLister, DeleteWithoutGil<PyLister>>>(module, "Lister", "Iterator over the pages of a listing.")
      .def(py::init([](const PyClient& client, std::string bucket, std::string prefix, std::string delimiter, int max_keys,
                       std::string continuation_token, std::string start_after) {
             ListObjectsRequest request;
             request.bucket = BucketName(std::move(bucket));
             request.prefix = std::move(prefix);
             request.delimiter = std::move(delimiter);
             request.max_keys = max_keys;
             request.continuation_token = std::move(continuation_token);
             request.start_after = std::move(start_after);
             return std::unique_ptr<PyLister, DeleteWithoutGil<PyLister>>(new PyLister(Lister::Create(client.client, std::move(request))));
           }),
           "client"_a, "bucket"_a, "prefix"_a = "", "delimiter"_a = "", "max_keys"_a = 1000, "continuation_token"_a = "",
           "start_after"_a = "")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &PyLister::Next);
}

}  // namespace penstock::python
