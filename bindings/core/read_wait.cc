#include "bindings/core/read_wait.h"

#include <chrono>
#include <optional>
#include <stop_token>
#include <utility>

#include "penstock/base/mutex.h"

namespace penstock::python {
namespace {

constexpr std::chrono::milliseconds kPoll{100};

struct Ask {
  std::uint64_t size = 0;
  GiveMemory give;
};

// What I/O threads tell the waiting thread.
struct News {
  Mutex mutex;
  CondVar changed;
  std::optional<Ask> ask PENSTOCK_GUARDED_BY(mutex);
  std::optional<Result<DownloadResponse>> result PENSTOCK_GUARDED_BY(mutex);
};

}  // namespace

Result<DownloadResponse> DownloadInto(
    std::shared_ptr<Client> client, DownloadRequest request,
    const std::function<Result<MutableByteView>(std::uint64_t)>& make_memory,
    const Interrupt& interrupt) {
  std::stop_source stop;
  request.options.call.cancel = stop.get_token();
  // shared with the callbacks, of which one may still be leaving the lock
  const auto news = std::make_shared<News>();
  request.ask_memory = [news](std::uint64_t size, GiveMemory give) {
    const MutexLock lock(news->mutex);
    news->ask = Ask{size, std::move(give)};
    news->changed.NotifyAll();
  };
  StartDownload(std::move(client), std::move(request), [news](Result<DownloadResponse> result) {
    const MutexLock lock(news->mutex);
    news->result.emplace(std::move(result));
    news->changed.NotifyAll();
  });
  bool stopping = false;
  for (;;) {
    std::optional<Ask> ask;
    {
      const MutexLock lock(news->mutex);
      if (!news->result && !news->ask)
        news->changed.WaitUntil(news->mutex, std::chrono::steady_clock::now() + kPoll);
      // An ask keeps the download, which keeps `news`: one that is not answered ends with `ask`,
      // after the lock.
      ask = std::exchange(news->ask, std::nullopt);
      if (news->result) return *std::move(news->result);
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
