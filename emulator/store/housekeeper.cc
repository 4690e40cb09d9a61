#include "emulator/store/housekeeper.h"

#include <utility>

#include "base/log/caught.h"
#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::store {
namespace {

constexpr int kPassesBeside = 3;

constinit DiagnosticEvent checkpoint_failed("store.checkpoint_failed");

// Pages that were not moved stay in the log, and the next commit requests a checkpoint again.
void ReportFailure(const Result<void>& checkpoint) {
  if (!checkpoint.ok()) checkpoint_failed.Report(checkpoint.error());
}

}  // namespace

Housekeeper::Housekeeper(HousekeeperOptions options, ConnectionPool& writer,
                         std::function<void(const std::atomic<bool>&)> sweep)
    : options_(std::move(options)), writer_(writer), sweep_(std::move(sweep)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { Work(); });
}

Housekeeper::~Housekeeper() {
  {
    const MutexLock lock(mutex_);
    stopping_.store(true);
    news_.NotifyAll();
  }
  thread_.join();
}

void Housekeeper::Committed(Connection& connection, int log_pages) {
  if (log_pages < options_.checkpoint_pages) return;
  if (log_pages >= options_.largest_log_pages) ReportFailure(connection.Checkpoint());
  if (wanted_.exchange(true)) return;
  const MutexLock lock(mutex_);
  news_.NotifyOne();
}

void Housekeeper::Work() {
  Contain("the sweep of orphans", [this] { sweep_(stopping_); });
  const auto now = [] { return std::chrono::steady_clock::now(); };
  MonotonicTime next_step =
      options_.step ? now() + options_.first_step_after : MonotonicTime::max();
  for (;;) {
    AwaitWork(next_step);
    if (stopping_.load()) return;
    if (wanted_.load()) {
      Contain("a checkpoint", [this] { Checkpoint(); });
      wanted_.store(false);  // the next commit requests a checkpoint for later pages
    }
    if (now() < next_step) continue;
    std::chrono::nanoseconds pause = options_.first_step_after;  // used if the step throws
    Contain("a step of the housekeeper", [&] { pause = options_.step(); });
    next_step = now() + pause;
  }
}

void Housekeeper::AwaitWork(MonotonicTime next_step) {
  const MutexLock lock(mutex_);
  while (!wanted_.load() && !stopping_.load()) {
    if (next_step == MonotonicTime::max()) {
      news_.WaitIdle(mutex_);
    } else if (!news_.WaitUntil(mutex_, next_step)) {
      return;
    }
  }
}

void Housekeeper::Checkpoint() {
  if (own_ == nullptr) {
    auto opened = ConcurrentCheckpoint::Open(options_.database);
    if (!opened.ok()) return checkpoint_failed.Report(opened.error());
    own_ = std::move(opened).value();
  }
  // First run concurrently with the writers: each pass moves what was written during the previous
  // one, so less remains each time. Then move the rest between two commits, so that the log can
  // restart.
  for (int pass = 0; pass < kPassesBeside; ++pass) {
    ReportFailure(own_->Run());
    if (stopping_.load()) return;
  }
  const auto writer = writer_.Take();
  if (!writer.ok()) return checkpoint_failed.Report(writer.error());
  ReportFailure((**writer).Checkpoint());
}

}  // namespace penstock::emulator::store
