#include "emulator/events/delivery/deliverer.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"
#include "emulator/events/delivery/connection.h"
#include "emulator/events/delivery/file_sink.h"
#include "emulator/events/delivery/webhook.h"
#include "emulator/policy/pattern.h"
#include "penstock/base/mutex.h"

namespace penstock::emulator::events {
namespace {

using std::chrono::milliseconds;
using Space = s3::Namespace;

constinit DiagnosticEvent delivery_failed("events.delivery_failed");

constexpr milliseconds kFirstPause{100};
constexpr milliseconds kLongestPause{10'000};
// The signal is notified before, so this only bounds the wait.
constexpr std::chrono::minutes kLongestWait{10};
constexpr std::chrono::seconds kStopLimit{3};
constexpr milliseconds kBetweenCancels{20};
constexpr int kPage = 256;

MonotonicTime Now() { return SystemClock().Monotonic(); }

class NoKeys final : public policy::Context {
 public:
  std::optional<Values> Find(std::string_view /*key*/) const override { return std::nullopt; }
};

using Patterns = std::vector<policy::Pattern>;

// The index of the first pattern that matches; their number: none does.
std::size_t RouteOf(const Patterns& patterns, std::string_view arn) {
  const auto found =
      std::find_if(patterns.begin(), patterns.end(),
                   [&](const policy::Pattern& pattern) { return pattern.Matches(arn, NoKeys()); });
  return static_cast<std::size_t>(found - patterns.begin());
}

}  // namespace

Result<std::vector<Route>> OpenRoutes(const std::vector<SinkAddress>& addresses,
                                      store::Durability durability, const std::string& ca_path) {
  if (!ca_path.empty()) PENSTOCK_TRY(CheckAuthorities(ca_path));
  std::vector<Route> routes;
  for (const SinkAddress& address : addresses) {
    std::unique_ptr<Sink> sink;
    if (address.kind == SinkAddress::Kind::kFile) {
      PENSTOCK_ASSIGN(sink, OpenFileSink(address.path, durability));
    } else {
      PENSTOCK_ASSIGN(sink, MakeWebhook(address, {.ca_path = ca_path}));
    }
    routes.push_back({address.pattern, std::move(sink)});
  }
  return routes;
}

// One route. Its thread shares ownership, because it may outlive the deliverer.
class Deliverer::Worker final : public std::enable_shared_from_this<Worker> {
 public:
  Worker(std::shared_ptr<const Patterns> patterns, std::size_t index, std::unique_ptr<Sink> sink,
         Spaces spaces, std::shared_ptr<store::ChangeSignal> signal)
      : patterns_(std::move(patterns)),
        index_(index),
        sink_(std::move(sink)),
        spaces_(std::move(spaces)),
        signal_(std::move(signal)) {}

  void Start() {
    thread_ = std::thread([self = shared_from_this()] { self->Work(); });
  }

  void Stop() {
    {
      const MutexLock lock(mutex_);
      stopping_ = true;
      changed_.NotifyAll();
    }
    signal_->Notify();
  }

  // Stop must have been called.
  void Join(MonotonicTime until) {
    if (!thread_.joinable()) return;
    while (!AwaitEnd(std::min(until, Now() + kBetweenCancels)) && Now() < until) sink_->Cancel();
    if (AwaitEnd(until) || !Abandon()) {
      thread_.join();
    } else {
      thread_.detach();
    }
  }

 private:
  // Numbers up to which a namespace has no events for this route. A reset replaces the namespace.
  using Cursors = std::map<std::weak_ptr<Space>, std::uint64_t, std::owner_less<>>;

  void Work() {
    while (!stopping_) {
      const std::uint64_t seen = signal_->count();
      const Result<void> sent = DeliverAll();
      if (stopping_) break;
      if (sent.ok()) {
        signal_->Await(seen, Now() + kLongestWait);
        continue;
      }
      delivery_failed.Report(sent.error());
      Pause(std::exchange(pause_, std::min(pause_ * 2, kLongestPause)));
    }
    const MutexLock lock(mutex_);
    ended_ = true;
    changed_.NotifyAll();
  }

  Result<void> DeliverAll() {
    try {
      std::erase_if(cursors_, [](const auto& entry) { return entry.first.expired(); });
      for (const std::weak_ptr<Space>& space : spaces_()) {
        PENSTOCK_TRY(Deliver(space));
        if (stopping_) return Ok();
      }
      return Ok();
    } catch (...) {  // out of memory
      return CurrentExceptionError();
    }
  }

  Result<void> Deliver(const std::weak_ptr<Space>& weak) {
    std::shared_ptr<Space> space = weak.lock();
    if (space == nullptr) return Ok();
    const std::string name = space->name;
    std::uint64_t& cursor = cursors_[weak];
    while (space != nullptr && !stopping_) {
      PENSTOCK_ASSIGN(const std::vector<store::StoredEvent> page,
                      space->store->ListUndelivered(cursor, kPage));
      // Not held while the sink works, so that the namespace can be reset or closed meanwhile.
      space.reset();
      if (page.empty()) return Ok();
      std::vector<store::StoredEvent> batch;
      for (const store::StoredEvent& stored : page) {
        if (RouteOf(*patterns_, stored.event.destination) != index_) continue;
        batch.push_back(stored);
        if (batch.size() < sink_->most()) continue;
        PENSTOCK_ASSIGN(const bool is_open, SendAndMark(weak, name, batch));
        if (!is_open) return Ok();
        cursor = stored.number;
      }
      PENSTOCK_ASSIGN(const bool is_open, SendAndMark(weak, name, batch));
      if (!is_open) return Ok();
      cursor = page.back().number;
      space = stopping_ ? nullptr : weak.lock();
    }
    return Ok();
  }

  // Returns false if the worker stops or the namespace was closed or reset. Its events are then
  // still unmarked.
  Result<bool> SendAndMark(const std::weak_ptr<Space>& weak, const std::string& name,
                           std::vector<store::StoredEvent>& batch) {
    if (batch.empty()) return !stopping_;
    if (stopping_) return false;
    SetSending(true);
    const Result<void> sent = sink_->Send(name, batch);
    if (!SetSending(false)) return false;
    PENSTOCK_TRY(sent);
    const std::shared_ptr<Space> space = weak.lock();
    if (space == nullptr) return false;
    std::vector<std::uint64_t> numbers;
    for (const store::StoredEvent& stored : batch) numbers.push_back(stored.number);
    batch.clear();
    PENSTOCK_TRY(space->store->MarkDelivered(numbers));
    pause_ = kFirstPause;
    return !stopping_;
  }

  // Returns false if the thread was abandoned and may not use the emulator any more.
  bool SetSending(bool sending) {
    const MutexLock lock(mutex_);
    sending_ = sending;
    return !abandoned_;
  }

  // Returns false if the thread is not in Sink::Send, so that it ends soon.
  bool Abandon() {
    const MutexLock lock(mutex_);
    abandoned_ = sending_ && !ended_;
    return abandoned_;
  }

  void Pause(milliseconds pause) {
    const auto until = Now() + pause;
    const MutexLock lock(mutex_);
    while (!stopping_ && changed_.WaitUntil(mutex_, until)) continue;
  }

  bool AwaitEnd(MonotonicTime until) {
    const MutexLock lock(mutex_);
    while (!ended_ && changed_.WaitUntil(mutex_, until)) continue;
    return ended_;
  }

  const std::shared_ptr<const Patterns> patterns_;
  const std::size_t index_;
  const std::unique_ptr<Sink> sink_;
  const Spaces spaces_;
  const std::shared_ptr<store::ChangeSignal> signal_;
  Cursors cursors_;                   // of the thread
  milliseconds pause_ = kFirstPause;  // of the thread: after the next failure
  std::atomic<bool> stopping_{false};
  Mutex mutex_;
  CondVar changed_;
  bool sending_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool abandoned_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool ended_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

Result<std::unique_ptr<Deliverer>> Deliverer::Start(std::vector<Route> routes, Spaces spaces,
                                                    std::shared_ptr<store::ChangeSignal> signal) {
  const auto patterns = std::make_shared<Patterns>();
  for (const Route& route : routes)
    patterns->emplace_back(route.pattern, policy::Pattern::Wildcards::kYes,
                           policy::Pattern::Variables::kNo);
  std::unique_ptr<Deliverer> deliverer(new Deliverer);
  const SignalsBlocked blocked;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    deliverer->workers_.push_back(
        std::make_shared<Worker>(patterns, i, std::move(routes[i].sink), spaces, signal));
    try {
      deliverer->workers_.back()->Start();
    } catch (const std::system_error& error) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         std::string("cannot start the thread of an event sink: ") + error.what() +
                             "; raise the limit of threads, or configure fewer sinks");
    }
  }
  return deliverer;
}

Deliverer::~Deliverer() {
  Stop();
  const auto until = Now() + kStopLimit;
  for (const auto& worker : workers_) worker->Join(until);
}

void Deliverer::Stop() {
  for (const auto& worker : workers_) worker->Stop();
}

}  // namespace penstock::emulator::events
