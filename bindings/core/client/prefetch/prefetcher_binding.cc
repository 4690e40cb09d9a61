// Prefetcher, and the listings that it reads without Python: one that continues while it is read,
// and one that is kept in memory.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/exclusive_use.h"
#include "bindings/core/client/listing/object_items.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/prefetch/prefetcher.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Items as a Python iterator. A Prefetcher takes the items from it directly.
class PyItems {
 public:
  explicit PyItems(std::shared_ptr<ObjectItems> items) : items_(std::move(items)) {}

  py::object Next() {
    const ExclusiveUse use(used_, "a listing");
    const std::optional<ObjectItem> item = items_->Next();
    if (!item) throw py::stop_iteration();
    return MakeKeyData(item->bucket, item->key, item->info);
  }
  const std::shared_ptr<ObjectItems>& items() const { return items_; }

 private:
  std::shared_ptr<ObjectItems> items_;
  bool used_ = false;
};

std::unique_ptr<PyItems> ListObjects(const PyClient& client, const Text<"bucket">& bucket,
                                     Text<"prefix"> prefix, std::uint64_t step, std::uint64_t first,
                                     Named<"page_size", int> max_keys) {
  ListObjectsRequest request;
  request.bucket = BucketName(bucket.value);
  request.prefix = std::move(prefix.value);
  request.max_keys = max_keys.value;
  return std::make_unique<PyItems>(ItemsListed(
      Lister::CreateOrdered(client.client, std::move(request)), bucket.value, step, first));
}

// A listing of one bucket, kept in memory.
struct PyObjectList {
  std::string bucket;
  std::shared_ptr<const ObjectList> list;

  py::object At(Py_ssize_t index) const {
    const ObjectSummary object = (*list)[IndexIn(*list, index)];
    const py::object key = KeyToPython(object.key.value);
    return MakeKeyData(py::str(bucket), key, MakeObjectInfo(key, object));
  }
};

PyObjectList ListAllObjects(const PyClient& client, const Text<"bucket">& bucket,
                            Text<"prefix"> prefix, Text<"delimiter"> delimiter,
                            Named<"page_size", int> max_keys) {
  ListObjectsRequest request;
  request.bucket = BucketName(bucket.value);
  request.prefix = std::move(prefix.value);
  request.max_keys = max_keys.value;
  ListAllOptions options;
  options.delimiter = std::move(delimiter.value);
  auto all = WithoutGil([&] { return ListAll(client.client, request, options, SignalPending); });
  return {bucket.value, std::make_shared<const ObjectList>(Unwrap(std::move(all)))};
}

void BindObjectList(py::module_& module) {
  py::class_<PyObjectList>(module, "ObjectList",
                           "The objects below a prefix, listed once and kept in compact form.")
      .def(py::init(&ListAllObjects), "client"_a, "bucket"_a, "prefix"_a, "delimiter"_a = "",
           "max_keys"_a = 1000)
      .def("__len__", [](const PyObjectList& self) { return self.list->size(); })
      .def("__getitem__", &PyObjectList::At, "index"_a)
      .def("__iter__",
           [](const PyObjectList& self) { return PyItems(ItemsOfList(self.list, self.bucket)); })
      .def(
          "items",
          [](const PyObjectList& self, std::vector<Py_ssize_t> indices) {
            return PyItems(ItemsChosen(self.list, self.bucket, std::move(indices)));
          },
          "indices"_a)
      .def_property_readonly("memory_bytes",
                             [](const PyObjectList& self) { return self.list->memory_bytes(); })
      .def(py::pickle(
          [](const PyObjectList& self) {
            return py::make_tuple(self.bucket, py::bytes(self.list->Save()));
          },
          [](const py::tuple& state) {
            auto list = ObjectList::Load(std::string_view(state[1].cast<py::bytes>()));
            return PyObjectList{state[0].cast<std::string>(),
                                std::make_shared<const ObjectList>(Unwrap(std::move(list)))};
          }));
}

class PyPrefetcher {
 public:
  explicit PyPrefetcher(std::unique_ptr<Prefetcher> prefetcher)
      : prefetcher_(std::move(prefetcher), "this prefetcher") {}

  py::list Next(bool fetch, std::uint64_t guess) {
    const ExclusiveUse use(used_, "an iterator of a dataset");
    return prefetcher_.Get().Next(fetch, guess);
  }
  void Cancel() {
    const ExclusiveUse use(used_, "an iterator of a dataset");
    if (prefetcher_.mine()) prefetcher_.Get().Cancel();
  }
  std::size_t coming() const { return prefetcher_.Get().coming(); }
  std::uint64_t coming_bytes() const { return prefetcher_.Get().coming_bytes(); }

 private:
  ProcessBound<Prefetcher> prefetcher_;
  bool used_ = false;
};

std::unique_ptr<PyPrefetcher> MakePrefetcher(const PyClient& client, const py::object& objects,
                                             std::uint64_t budget, std::uint64_t object_limit,
                                             std::size_t most,
                                             std::optional<std::uint64_t> part_size,
                                             std::optional<int> parallel) {
  std::shared_ptr<ObjectItems> items = py::isinstance<PyItems>(objects)
                                           ? objects.cast<const PyItems&>().items()
                                           : std::shared_ptr(ItemsOf(py::iter(objects)));
  return std::make_unique<PyPrefetcher>(std::make_unique<Prefetcher>(
      client.client, std::move(items),
      PrefetchLimits{budget, object_limit, most, part_size, parallel}));
}

}  // namespace

void BindPrefetcher(py::module_& module) {
  py::class_<PyItems>(module, "ObjectItems", "Iterator over the objects of a listing.")
      .def(py::init(&ListObjects), "client"_a, "bucket"_a, "prefix"_a, "step"_a = 1, "first"_a = 0,
           "max_keys"_a = 1000)
      .def("__iter__", [](py::object self) { return self; })
      .def("__next__", &PyItems::Next);
  BindObjectList(module);
  py::class_<PyPrefetcher>(module, "Prefetcher",
                           "Fetches upcoming objects and returns them in order.")
      .def(py::init(&MakePrefetcher), "client"_a, "objects"_a, "budget"_a, "object_limit"_a,
           "most"_a, "part_size"_a = py::none(), "parallel"_a = py::none())
      .def("next", &PyPrefetcher::Next, "fetch"_a, "guess"_a)
      .def("cancel", &PyPrefetcher::Cancel)
      .def_property_readonly("coming", &PyPrefetcher::coming)
      .def_property_readonly("coming_bytes", &PyPrefetcher::coming_bytes);
}

}  // namespace penstock::python
