// Reads of an object that an event loop awaits.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_AIO_READ_CALL_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_AIO_READ_CALL_H_

#include <pybind11/pybind11.h>

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "bindings/core/client/aio/completion_queue.h"
#include "bindings/core/client/bindings.h"
#include "penstock/transfer.h"

namespace penstock::python {

// Reads a range into a new `bytes`. Returns it and the metadata.
class ReadCall final : public AsyncCall {
 public:
  // `request` has no destination.
  ReadCall(std::shared_ptr<Client> client, DownloadRequest request)
      : AsyncCall(std::move(client)), request_(std::move(request)) {}

 protected:
  void Start(std::function<void()> ask_memory, std::function<void()> done) override;
  void GiveMemory() override;
  pybind11::object Take() override;

 private:
  DownloadRequest request_;
  // Set by an I/O thread before `ask_memory`.
  std::uint64_t size_ = 0;
  penstock::GiveMemory give_;
  pybind11::object bytes_;
  std::optional<Result<DownloadResponse>> result_;
};

// Reads a range into a writable buffer, which stays exported until the engine no longer uses it.
// Returns the number of bytes, the metadata and the CRC of DownloadResponse.
class ReadIntoCall final : public AsyncCall {
 public:
  // `request` has no destination and no end. Throws if `buffer` is not writable and contiguous.
  ReadIntoCall(std::shared_ptr<Client> client, DownloadRequest request, pybind11::handle buffer);

 protected:
  void Start(std::function<void()> ask_memory, std::function<void()> done) override;
  pybind11::object Take() override;

 private:
  BufferView view_;
  DownloadRequest request_;
  std::optional<Result<DownloadResponse>> result_;
};

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_AIO_READ_CALL_H_
