// BulkDownload: many small objects to files, without Python per request.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/requests/arguments.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/bulk_download.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// One caller at a time.
class PyBulkDownload {
 public:
  explicit PyBulkDownload(std::unique_ptr<BulkDownload> download)
      : download_(std::move(download)) {}
  ~PyBulkDownload() {
    WithoutGil([&] { download_.reset(); });
  }
  PyBulkDownload(const PyBulkDownload&) = delete;
  PyBulkDownload& operator=(const PyBulkDownload&) = delete;

  std::uint64_t Add(Text<"bucket"> bucket, Text<"key"> key, std::uint64_t size,
                    const py::object& etag, Text<"path"> path) {
    BulkFile file{BucketName(std::move(bucket.value)), ObjectKey(std::move(key.value)), size,
                  ETag(), std::move(path.value)};
    LoadValue("etag", etag, file.etag);
    return Unwrap(WithoutGil([&] { return download_->Add(std::move(file)); }));
  }
  // Both append to a list of the caller, so that an exception of a signal handler loses no result.
  void Take(py::list into) {
    if (taken_.empty()) taken_ = Unwrap(WithoutGil([&] { return download_->Take(SignalPending); }));
    Append(into);
  }
  void TakeReady(py::list into) {
    if (taken_.empty()) taken_ = download_->TakeReady();
    Append(into);
  }
  std::uint64_t pending() const { return taken_.size() - appended_ + download_->pending(); }
  void SetParallel(int parallel) {
    WithoutGil([&] { download_->SetMaxParallelRequests(parallel); });
  }
  void Cancel() {
    WithoutGil([&] { download_->Cancel(); });
  }

 private:
  // Exceptions are made by Python, where a signal handler may raise: the rest is appended later.
  void Append(py::list& into) {
    for (; appended_ < taken_.size(); ++appended_) {
      const BulkFileResult& file = taken_[appended_];
      const Result<ObjectMetadata>& result = file.result;
      py::object error = py::none();
      if (!result.ok()) error = ExceptionOf(result.error());
      into.append(py::make_tuple(file.number, std::move(error),
                                 result.ok() ? TextToPython(result->etag.value) : py::str(),
                                 result.ok() ? TextToPython(result->version_id.value) : py::str()));
    }
    taken_.clear();
    appended_ = 0;
  }

  std::unique_ptr<BulkDownload> download_;
  std::vector<BulkFileResult> taken_;
  std::size_t appended_ = 0;  // of taken_
};

using BulkDownloadPointer = std::unique_ptr<PyBulkDownload, DeleteUnlessInUse<PyBulkDownload>>;

BulkDownloadPointer MakeBulkDownload(const PyClient& client, int parallel,
                                     const py::object& customer_key, Named<"sync", bool> sync,
                                     Named<"replace", bool> replace) {
  BulkDownloadOptions options;
  options.max_parallel_requests = parallel;
  // Each request may have an object of 8 MiB, as the transfers that have a thread each.
  constexpr std::uint64_t kObjectBytes = 8u << 20;
  options.max_memory_bytes = std::max(
      options.max_memory_bytes, static_cast<std::uint64_t>(std::max(parallel, 0)) * kObjectBytes);
  options.keep_modification_time = true;
  options.sync = sync.value;
  options.replace = replace.value;
  if (!customer_key.is_none()) LoadValue("sse_customer_key", customer_key, options.customer_key);
  return BulkDownloadPointer(
      new PyBulkDownload(Unwrap(BulkDownload::Create(client.client, std::move(options)))));
}

}  // namespace

void BindBulkDownload(py::module_& module) {
  Guarded<PyBulkDownload>(module, "BulkDownload",
                          "Downloads small objects of a listing to files, many at a time.")
      .def(py::init(&MakeBulkDownload), "client"_a, "parallel"_a, "sse_customer_key"_a = py::none(),
           "sync"_a = false, "replace"_a = true)
      .def("add", &PyBulkDownload::Add, "bucket"_a, "key"_a, "size"_a, "etag"_a, "path"_a,
           "Queues a file and returns its number.")
      .def(
          "take", &PyBulkDownload::Take, "into"_a,
          "Waits for some files to end. Appends (number, exception or None, ETag, version) of each "
          "to a list; nothing if none is left.")
      .def("take_ready", &PyBulkDownload::TakeReady, "into"_a, "Same, without waiting.")
      .def("set_parallel", &PyBulkDownload::SetParallel, "parallel"_a)
      .def("cancel", &PyBulkDownload::Cancel)
      .def_property_readonly("pending", &PyBulkDownload::pending,
                             "Files whose results have not been taken.");
}

}  // namespace penstock::python
