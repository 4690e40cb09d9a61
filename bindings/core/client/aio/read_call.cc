#include "bindings/core/client/aio/read_call.h"

#include <pybind11/stl.h>

#include "bindings/core/client/new_bytes.h"
#include "bindings/core/errors.h"
#include "bindings/core/gil.h"

namespace penstock::python {
namespace {

namespace py = pybind11;

// Up to this size, releasing the GIL costs more than the copy of the bytes that have arrived.
constexpr std::uint64_t kLittle = 64 << 10;

}  // namespace

void ReadCall::Start(std::function<void()> ask_memory, std::function<void()> done) {
  request_.options.call.cancel = cancel_token();
  request_.ask_memory = [this, ask_memory = std::move(ask_memory)](std::uint64_t size,
                                                                   penstock::GiveMemory give) {
    size_ = size;
    give_ = std::move(give);
    ask_memory();
  };
  StartDownload(client(), std::move(request_),
                [this, done = std::move(done)](Result<DownloadResponse> result) {
                  result_.emplace(std::move(result));
                  done();
                });
}

void ReadCall::GiveMemory() {
  const penstock::GiveMemory give = std::exchange(give_, nullptr);
  Result<MutableByteView> memory = [this]() -> Result<MutableByteView> {
    if (cancel_token().stop_requested())
      return Error::Make(ErrorKind::kCancelled, "the read was cancelled");
    PENSTOCK_ASSIGN(bytes_, NewBytes(size_));
    return BytesMemory(bytes_);
  }();
  if (size_ <= kLittle) return give(std::move(memory));
  const ReleasedGil unlocked;
  give(std::move(memory));
}

py::object ReadCall::Take() {
  const DownloadResponse response = Unwrap(*std::move(result_));
  if (!bytes_) bytes_ = py::bytes("");
  return py::make_tuple(bytes_, response.metadata);
}

ReadIntoCall::ReadIntoCall(std::shared_ptr<Client> client, DownloadRequest request,
                           py::handle buffer)
    : AsyncCall(std::move(client)),
      view_(buffer, BufferView::Access::kWrite),
      request_(std::move(request)) {
  AdviseHugePages(view_.writable());
  request_.end = request_.begin + view_.writable().size();
}

void ReadIntoCall::Start(std::function<void()> /*ask_memory*/, std::function<void()> done) {
  request_.options.call.cancel = cancel_token();
  request_.destination = [memory =
                              view_.writable()](std::uint64_t size) -> Result<MutableByteView> {
    return memory.first(size);
  };
  StartDownload(client(), std::move(request_),
                [this, done = std::move(done)](Result<DownloadResponse> result) {
                  result_.emplace(std::move(result));
                  done();
                });
}

py::object ReadIntoCall::Take() {
  const DownloadResponse response = Unwrap(*std::move(result_));
  return py::make_tuple(response.bytes, response.metadata, response.prefix_crc);
}

}  // namespace penstock::python
