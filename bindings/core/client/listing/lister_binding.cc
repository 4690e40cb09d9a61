// Lister: pages of a listing, with one page fetched ahead.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/exclusive_use.h"
#include "bindings/core/client/listing/pages.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

class PyLister {
 public:
  explicit PyLister(std::unique_ptr<Lister> lister) : lister_(std::move(lister), "this listing") {}
  PyLister(PyLister&&) = default;

  // Returns (objects as ObjectInfo, common prefixes, next token).
  py::tuple Next() {
    const ExclusiveUse use(used_, "a listing");
    auto result = WithoutGil([&] { return lister_.Get().Next(SignalPending); });
    const std::optional<ListObjectsResponse> page = Unwrap(std::move(result));
    if (!page) throw py::stop_iteration();
    return PageToPython(*page);
  }

 private:
  ProcessBound<Lister> lister_;
  bool used_ = false;
};

}  // namespace

void BindLister(py::module_& module) {
  py::class_<PyLister, std::unique_ptr<PyLister, DeleteWithoutGil<PyLister>>>(
      module, "Lister", "Iterator over the pages of a listing.")
      .def(py::init([](const PyClient& client, Text<"bucket"> bucket, Text<"prefix"> prefix,
                       Text<"delimiter"> delimiter, Named<"max_keys", int> max_keys,
                       Text<"continuation_token"> continuation_token,
                       Text<"start_after"> start_after) {
             ListObjectsRequest request;
             request.bucket = BucketName(std::move(bucket.value));
             request.prefix = std::move(prefix.value);
             request.delimiter = std::move(delimiter.value);
             request.max_keys = max_keys.value;
             request.continuation_token = std::move(continuation_token.value);
             request.start_after = std::move(start_after.value);
             return std::unique_ptr<PyLister, DeleteWithoutGil<PyLister>>(
                 new PyLister(Lister::Create(client.client, std::move(request))));
           }),
           "client"_a, "bucket"_a, "prefix"_a = "", "delimiter"_a = "", "max_keys"_a = 1000,
           "continuation_token"_a = "", "start_after"_a = "")
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &PyLister::Next);
}

}  // namespace penstock::python
