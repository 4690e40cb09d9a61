// Fetch: the first bytes of an object, on their way since it was made and taken later.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "bindings/core/bindings.h"
#include "bindings/core/client_binding.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "bindings/core/named_argument.h"
#include "bindings/core/new_bytes.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// A download in flight and the memory it fills.
//
// Thread safety: one caller at a time, besides the I/O thread that completes it. Destroying it
// cancels the download and waits for its end. Needs the GIL to be destroyed.
class PendingFetch {
 public:
  explicit PendingFetch(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  ~PendingFetch() {
    Cancel();
    if (started_ && !Landed()) WithoutGil([&] { static_cast<void>(Wait({})); });
  }
  PendingFetch(const PendingFetch&) = delete;
  PendingFetch& operator=(const PendingFetch&) = delete;

  void Start(DownloadRequest request, std::uint64_t limit) {
    if (request.known_size && request.known_etag)
      memory_.Expect(std::min(*request.known_size, limit));
    request.end = limit;
    request.options.call.cancel = stop_.get_token();
    request.destination = [this](std::uint64_t size) { return memory_.Place(size); };
    started_ = true;
    // Without the GIL: a lock that the store takes may be held by a thread that waits for the GIL.
    WithoutGil([&] {
      StartDownload(client_, std::move(request),
                    [landing = landing_](Result<DownloadResponse> result) {
                      const MutexLock lock(landing->mutex);
                      landing->result.emplace(std::move(result));
                      landing->changed.NotifyAll();
                    });
    });
  }

  bool Landed() const {
    const MutexLock lock(landing_->mutex);
    return landing_->result.has_value();
  }

  void Cancel() { stop_.request_stop(); }

  // The bytes, the object's size, its ETag. Once.
  py::tuple Take() {
    auto result = Landed() ? Wait({}) : WithoutGil([&] { return Wait(SignalPending); });
    const DownloadResponse response = Unwrap(std::move(result));
    return py::make_tuple(memory_.Take(response.bytes), response.metadata.size,
                          TextToPython(response.metadata.etag.value));
  }

 private:
  struct Landing {
    Mutex mutex;
    CondVar changed;
    std::optional<Result<DownloadResponse>> result PENSTOCK_GUARDED_BY(mutex);
  };

  // The result, which is copied: it can be asked for again. After an interrupt the download is
  // cancelled, and its end still awaited.
  Result<DownloadResponse> Wait(const Interrupt& interrupt) {
    constexpr std::chrono::milliseconds kPoll{100};
    for (;;) {
      {
        const MutexLock lock(landing_->mutex);
        if (!landing_->result)
          landing_->changed.WaitUntil(landing_->mutex, std::chrono::steady_clock::now() + kPoll);
        if (landing_->result) return *landing_->result;
      }
      if (interrupt && interrupt()) Cancel();
    }
  }

  const std::shared_ptr<Client> client_;  // outlives the completion
  const std::shared_ptr<Landing> landing_ = std::make_shared<Landing>();
  std::stop_source stop_;
  bool started_ = false;
  ReceiveBuffer memory_;
};

class PyFetch {
 public:
  explicit PyFetch(std::unique_ptr<PendingFetch> flight)
      : flight_(std::move(flight), "this fetch") {}

  py::tuple Take() { return flight_.Get().Take(); }
  bool Landed() const { return flight_.Get().Landed(); }
  void Cancel() {
    if (flight_.mine()) flight_.Get().Cancel();
  }

 private:
  ProcessBound<PendingFetch> flight_;
};

std::unique_ptr<PyFetch> MakeFetch(const PyClient& client, Text<"bucket"> bucket, Text<"key"> key,
                                   std::uint64_t limit, std::optional<std::uint64_t> size,
                                   std::optional<std::string> etag,
                                   std::optional<std::uint64_t> part_size,
                                   std::optional<int> parallel, Text<"version_id"> version) {
  DownloadRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.known_size = size;
  if (etag) request.known_etag = ETag(std::move(*etag));
  request.version_id = VersionId(std::move(version.value));
  request.options.part_size_bytes = part_size;
  request.options.max_parallel_parts = parallel;
  auto flight = std::make_unique<PendingFetch>(client.client);
  flight->Start(std::move(request), limit);
  return std::make_unique<PyFetch>(std::move(flight));
}

}  // namespace

void BindFetch(py::module_& module) {
  py::class_<PyFetch>(module, "Fetch",
                      "The first bytes of an object, on their way since this was made.")
      .def(py::init(&MakeFetch), "client"_a, "bucket"_a, "key"_a, "limit"_a, "size"_a = py::none(),
           "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
           "version_id"_a = "")
      .def("take", &PyFetch::Take)
      .def("cancel", &PyFetch::Cancel)
      .def_property_readonly("landed", &PyFetch::Landed);
}

}  // namespace penstock::python
