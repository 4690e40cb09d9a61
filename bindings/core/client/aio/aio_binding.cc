// CompletionQueue and AsyncClient: calls that an event loop awaits. penstock.aio uses them.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/client/aio/completion_queue.h"
#include "bindings/core/client/aio/read_call.h"
#include "bindings/core/client/bindings.h"
#include "bindings/core/client/client_binding.h"
#include "bindings/core/client/event_loops.h"
#include "bindings/core/client/named_argument.h"
#include "bindings/core/client/requests/arguments.h"
#include "bindings/core/client/requests/operation.h"

namespace penstock::python {
namespace {

namespace py = pybind11;
using namespace py::literals;

// Owns the queue of one event loop. The loop owns this object through its reader callback, so that
// the queue is closed when the loop is.
class LoopQueue {
 public:
  explicit LoopQueue(py::object make_future)
      : queue_(CompletionQueue::Create(std::move(make_future))) {}
  ~LoopQueue() {
    if (!OthersInsideAtTheEnd()) queue_->Close();
    // A forked child, and the end of the process, destroy no call.
    if (queue_->in_flight() > 0) new std::shared_ptr<CompletionQueue>(queue_);
  }
  LoopQueue(const LoopQueue&) = delete;
  LoopQueue& operator=(const LoopQueue&) = delete;

  const std::shared_ptr<CompletionQueue>& queue() const { return queue_; }

 private:
  // Shared with the calls in flight.
  const std::shared_ptr<CompletionQueue> queue_;
};

// An operation of bindings/core/requests.
class OperationCall final : public AsyncCall {
 public:
  OperationCall(std::shared_ptr<Client> client, std::unique_ptr<Operation> operation)
      : AsyncCall(std::move(client)), operation_(std::move(operation)) {}

 protected:
  void Start(std::function<void()> /*ask_memory*/, std::function<void()> done) override {
    operation_->Start(*client(), cancel_token(), std::move(done));
  }
  py::object Take() override { return operation_->Take(); }

 private:
  const std::unique_ptr<Operation> operation_;
};

// A client on one event loop. It does not keep the loop's queue open.
class AsyncClient {
 public:
  AsyncClient(const PyClient& client, const LoopQueue& queue)
      : client_(client.client), queue_(queue.queue()) {}

  py::object Call(const std::string& name, const py::dict& arguments) const {
    return queue_->Submit(std::make_unique<OperationCall>(client_, MakeOperation(name, arguments)));
  }
  py::object Read(DownloadRequest request) const {
    return queue_->Submit(std::make_unique<ReadCall>(client_, std::move(request)));
  }
  py::object ReadInto(DownloadRequest request, const py::object& buffer) const {
    return queue_->Submit(std::make_unique<ReadIntoCall>(client_, std::move(request), buffer));
  }
  py::list CancelAll() const { return queue_->CancelAllOf(*client_); }

 private:
  std::shared_ptr<Client> client_;          // shared with the calls in flight
  std::shared_ptr<CompletionQueue> queue_;  // same
};

}  // namespace

void BindEventLoops(py::module_& module) {
  py::class_<LoopQueue>(module, "LoopQueue", "The completions of the calls of one event loop.")
      .def(py::init<py::object>(), "make_future"_a)
      .def("fileno", [](const LoopQueue& self) { return self.queue()->descriptor(); })
      .def("drain", [](const LoopQueue& self) { self.queue()->Drain(); })
      .def(
          "cancel",
          [](const LoopQueue& self, std::uint64_t number) { self.queue()->Cancel(number); },
          "number"_a)
      .def("close", [](const LoopQueue& self) { self.queue()->Close(); })
      .def_property_readonly("in_flight",
                             [](const LoopQueue& self) { return self.queue()->in_flight(); });
  py::class_<CancelSource>(module, "CancelSource", "Cancels a call that another thread runs.")
      .def(py::init<>())
      .def("cancel", [](CancelSource& self) {
        const ReleasedGil unlocked;
        self.stop.request_stop();
      });
  Guarded<AsyncClient>(module, "AsyncClient", "A client on one event loop.")
      .def(py::init<const PyClient&, const LoopQueue&>(), "client"_a, "queue"_a)
      .def("call", &AsyncClient::Call, "name"_a, "arguments"_a,
           "Starts an operation of bindings/core/requests. Returns a future of its result.")
      .def(
          "read",
          [](const AsyncClient& self, Text<"bucket"> bucket, Text<"key"> key, std::uint64_t start,
             std::optional<std::uint64_t> end, std::optional<std::uint64_t> size,
             std::optional<std::string> etag, std::optional<std::uint64_t> part_size,
             std::optional<int> parallel, Text<"version_id"> version) {
            return self.Read(MakeDownload({std::move(bucket.value),
                                           std::move(key.value),
                                           start,
                                           end,
                                           size,
                                           std::move(etag),
                                           part_size,
                                           parallel,
                                           std::move(version.value),
                                           {},
                                           {}}));
          },
          "bucket"_a, "key"_a, "start"_a = 0, "end"_a = py::none(), "size"_a = py::none(),
          "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
          "version_id"_a = "",
          "Reads a range into new memory. Returns a future of (bytes, ObjectMetadata).")
      .def(
          "read_into",
          [](const AsyncClient& self, Text<"bucket"> bucket, Text<"key"> key,
             const py::object& buffer, std::uint64_t start, std::optional<std::uint64_t> size,
             std::optional<std::string> etag, std::optional<std::uint64_t> part_size,
             std::optional<int> parallel, Text<"version_id"> version,
             std::vector<std::pair<std::string, std::string>> checksums,
             std::optional<std::uint64_t> prefix_crc) {
            return self.ReadInto(
                MakeDownload({std::move(bucket.value), std::move(key.value), start, std::nullopt,
                              size, std::move(etag), part_size, parallel, std::move(version.value),
                              std::move(checksums), prefix_crc}),
                buffer);
          },
          "bucket"_a, "key"_a, "buffer"_a, "start"_a = 0, "size"_a = py::none(),
          "etag"_a = py::none(), "part_size"_a = py::none(), "parallel"_a = py::none(),
          "version_id"_a = "", "checksums"_a = std::vector<std::pair<std::string, std::string>>(),
          "prefix_crc"_a = py::none(),
          "Fills a buffer from an object. Returns a future of (number of bytes, ObjectMetadata, "
          "CRC "
          "of the object's bytes before the end of the range, if `prefix_crc` was given).")
      .def("cancel_all", &AsyncClient::CancelAll,
           "Cancels the calls in flight of this client. Returns their futures.");
}

}  // namespace penstock::python
