// Fetch: downloads the first bytes of an object in the background until they are taken.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/first_bytes.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/new_bytes.h"
#include "bindings/core/errors.h"
#include "bindings/core/interrupt.h"
#include "penstock/base/mutex.h"
#include "penstock/transfer.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// A download in flight and its memory.
//
// Thread safety: one caller at a time, besides the I/O thread that completes it. The destructor
// cancels the download and waits for its end. Destruction needs the GIL.
class PendingFetch {
 public:
  explicit PendingFetch(std::shared_ptr<Client> client) : client_(std::move(client)) {}
  ~PendingFetch() {
    Cancel();
    if (started_ && !IsDone()) WithoutGil([&] { static_cast<void>(Wait({})); });
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
    // Without the GIL: a thread that waits for the GIL may hold a lock that the store takes.
    WithoutGil([&] {
      StartFirstBytes(
          client_, std::move(request), ChecksumRequest::kAfterwards,
          [state = state_](Result<DownloadResponse> result) { state->Set(std::move(result)); });
    });
  }

  bool IsDone() const {
    const MutexLock lock(state_->mutex);
    return state_->result.has_value();
  }

  void Cancel() { stop_.request_stop(); }

  // Returns the bytes, the object's size, its ETag, and its checksums if the bytes are not the
  // whole object. Call it once.
  py::tuple Take() {
    auto result = IsDone() ? Wait({}) : WithoutGil([&] { return Wait(SignalPending); });
    const DownloadResponse response = Unwrap(std::move(result));
    return py::make_tuple(memory_.Take(response.bytes), response.metadata.size,
                          TextToPython(response.metadata.etag.value),
                          response.bytes < response.metadata.size
                              ? response.metadata.checksums
                              : decltype(response.metadata.checksums)());
  }

 private:
  struct FetchState {
    Mutex mutex;
    CondVar changed;
    std::optional<Result<DownloadResponse>> result PENSTOCK_GUARDED_BY(mutex);

    void Set(Result<DownloadResponse> response) {
      const MutexLock lock(mutex);
      result.emplace(std::move(response));
      changed.NotifyAll();
    }
  };

  // Returns a copy of the result, so that it can be called again. After an interrupt, cancels the
  // download and still waits for its end.
  Result<DownloadResponse> Wait(const Interrupt& interrupt) {
    constexpr std::chrono::milliseconds kPoll{100};
    for (;;) {
      {
        const MutexLock lock(state_->mutex);
        if (!state_->result)
          state_->changed.WaitUntil(state_->mutex, std::chrono::steady_clock::now() + kPoll);
        if (state_->result) return *state_->result;
      }
      if (interrupt && interrupt()) Cancel();
    }
  }

  const std::shared_ptr<Client> client_;  // must outlive the completion
  const std::shared_ptr<FetchState> state_ = std::make_shared<FetchState>();
  std::stop_source stop_;
  bool started_ = false;
  ReceiveBuffer memory_;
};

class PyFetch {
 public:
  explicit PyFetch(std::unique_ptr<PendingFetch> fetch) : fetch_(std::move(fetch), "this fetch") {}

  py::tuple Take() { return fetch_.Get().Take(); }
  bool IsDone() const { return fetch_.Get().IsDone(); }
  void Cancel() {
    if (fetch_.mine()) fetch_.Get().Cancel();
  }

 private:
  ProcessBound<PendingFetch> fetch_;
};

std::unique_ptr<PyFetch> MakeFetch(const PyClient& client, Text<"bucket"> bucket, Text<"key"> key,
                                   Named<"limit", std::uint64_t> limit,
                                   Named<"size", std::optional<std::uint64_t>> size,
                                   Named<"etag", std::optional<std::string>> etag,
                                   Named<"part_size", std::optional<std::uint64_t>> part_size,
                                   Named<"parallel", std::optional<int>> parallel,
                                   Text<"version_id"> version,
                                   Named<"listed_etag", std::optional<std::string>> listed) {
  DownloadRequest request;
  request.bucket = BucketName(std::move(bucket.value));
  request.key = ObjectKey(std::move(key.value));
  request.known_size = size.value;
  if (etag.value) request.known_etag = ETag(std::move(*etag.value));
  if (listed.value) request.listed_etag = ETag(std::move(*listed.value));
  request.version_id = VersionId(std::move(version.value));
  request.options.part_size_bytes = part_size.value;
  request.options.max_parallel_parts = parallel.value;
  auto fetch = std::make_unique<PendingFetch>(client.client);
  fetch->Start(std::move(request), limit.value);
  return std::make_unique<PyFetch>(std::move(fetch));
}

}  // namespace

void BindFetch(py::module_& module) {
  py::class_<PyFetch>(module, "Fetch", "Downloads the first bytes of an object in the background.")
      .def(py::init(&MakeFetch), "client"_a, "bucket"_a, "key"_a, "limit"_a, "size"_a = py::none(),
           "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
           "version_id"_a = "", "listed_etag"_a = py::none())
      .def("take", &PyFetch::Take)
      .def("cancel", &PyFetch::Cancel)
      .def_property_readonly("landed", &PyFetch::IsDone);
}

}  // namespace penstock::python
