#include "bindings/core/client/read_wait.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::python {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

struct MemoryRequest {
  std::uint64_t size = 0;
  GiveMemory give;
};

// State that I/O threads set for the waiting thread.
struct WaitState {
  Mutex mutex;
  CondVar changed;
  std::optional<MemoryRequest> ask PENSTOCK_GUARDED_BY(mutex);
  std::optional<Result<DownloadResponse>> result PENSTOCK_GUARDED_BY(mutex);
};

}  // namespace

Result<DownloadResponse> DownloadInto(
    std::shared_ptr<Client> client, DownloadRequest request,
    const std::function<Result<MutableByteView>(std::uint64_t)>& make_memory,
    const Interrupt& interrupt) {
  std::stop_source stop;
  request.options.call.cancel = stop.get_token();
  // Shared with the callbacks, one of which may still be releasing the lock.
  const auto state = std::make_shared<WaitState>();
  request.ask_memory = [state](std::uint64_t size, GiveMemory give) {
    const MutexLock lock(state->mutex);
    state->ask = MemoryRequest{size, std::move(give)};
    state->changed.NotifyAll();
  };
  StartDownload(std::move(client), std::move(request), [state](Result<DownloadResponse> result) {
    const MutexLock lock(state->mutex);
    state->result.emplace(std::move(result));
    state->changed.NotifyAll();
  });
  bool stopping = false;
  for (;;) {
    std::optional<MemoryRequest> ask;
    {
      const MutexLock lock(state->mutex);
      if (!state->result && !state->ask)
        state->changed.WaitUntil(state->mutex, std::chrono::steady_clock::now() + kPoll);
      // A memory request keeps the download alive, and the download keeps `state`. If it is not
      // served, it is destroyed with `ask`, after the lock.
      ask = std::exchange(state->ask, std::nullopt);
      if (state->result) return *std::move(state->result);
    }
    if (ask && stopping) {
      ask->give(Error::Make(ErrorKind::kCancelled, "the read was interrupted"));
    } else if (ask) {
      ask->give(make_memory(ask->size));
    } else if (!stopping && interrupt && interrupt()) {
      stopping = true;
      stop.request_stop();
    }
  }
}

}  // namespace penstock::python
