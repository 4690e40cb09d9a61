#include "bindings/core/client/events/event_queue.h"

#include <atomic>
#include <iterator>
#include <utility>

#include "base/process_id.h"

namespace penstock::python {

EventQueue& EventQueue::PerProcess() {
  struct Owned {
    int process;
    EventQueue queue;
  };
  static std::atomic<Owned*> current{nullptr};
  Owned* seen = current.load(std::memory_order_acquire);
  while (seen == nullptr || seen->process != ProcessId()) {
    auto* made = new Owned{ProcessId(), {}};
    if (current.compare_exchange_strong(seen, made, std::memory_order_acq_rel)) return made->queue;
    delete made;
  }
  return seen->queue;
}

bool EventQueue::TryAppend(ClientEvent& event) {
  const bool last = std::holds_alternative<LastEvent>(event.what);
  const bool question = std::holds_alternative<KeptQuestion>(event.what);
  const MutexLock lock(mutex_);
  if (closed_ || (question && !has_reader_) || (!last && events_.size() >= kCapacity)) return false;
  events_.push_back(std::move(event));
  ++appended_;
  changed_.NotifyAll();
  return true;
}

bool EventQueue::Append(std::uint64_t client, const RequestEvent& event) {
  ClientEvent appended{client, event};
  return TryAppend(appended);
}

void EventQueue::Append(LogLine line) {
  ClientEvent appended{0, std::move(line)};
  if (!TryAppend(appended)) dropped_lines_.fetch_add(1, std::memory_order_relaxed);
}

void EventQueue::Ask(std::uint64_t client, const RetryQuestion& question,
                     std::function<void(RetryVerdict)> decide) {
  ClientEvent asked{client,
                    KeptQuestion{std::string(question.operation), std::string(question.bucket),
                                 std::string(question.key), question.attempt, question.error,
                                 question.retried_by_default, std::move(decide)}};
  if (!TryAppend(asked)) std::get<KeptQuestion>(asked.what).decide(RetryVerdict::kDefault);
}

void EventQueue::End(std::uint64_t client) {
  ClientEvent last{client, LastEvent{}};
  TryAppend(last);
}

std::vector<ClientEvent> EventQueue::Take() {
  const MutexLock lock(mutex_);
  has_reader_ = true;
  while (events_.empty() && !closed_) changed_.WaitIdle(mutex_);
  std::vector<ClientEvent> taken(std::make_move_iterator(events_.begin()),
                                 std::make_move_iterator(events_.end()));
  events_.clear();
  return taken;
}

void EventQueue::Handled(std::size_t count) {
  const MutexLock lock(mutex_);
  handled_ += count;
  changed_.NotifyAll();
}

bool EventQueue::Flush(std::chrono::nanoseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  const MutexLock lock(mutex_);
  const std::uint64_t wanted = appended_;
  while (handled_ < wanted && has_reader_) {
    if (!changed_.WaitUntil(mutex_, until) && handled_ < wanted) return false;
  }
  return true;
}

void EventQueue::Close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.NotifyAll();
}

}  // namespace penstock::python
