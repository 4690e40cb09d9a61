#include "emulator/server/namespaces/store_remover.h"

#include <system_error>
#include <utility>

#include "base/log/diagnostics.h"
#include "base/signals_blocked.h"

namespace penstock::emulator::server {
namespace {

constinit DiagnosticEvent thread_not_started("server.remover_not_started");

}  // namespace

StoreRemover::~StoreRemover() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    thread = std::move(thread_);
  }
  changed_.NotifyAll();
  if (thread.joinable()) thread.join();
}

// The parameter is destroyed after the lock has been released, even if it was not added to the
// list.
void StoreRemover::Add(std::unique_ptr<Item> item) noexcept {
  const MutexLock lock(mutex_);
  if (!HasThread()) return;
  Item* const added = item.get();
  (last_ != nullptr ? last_->next_ : first_) = std::move(item);
  last_ = added;
  ++waiting_;
  changed_.NotifyAll();
}

void StoreRemover::Help(std::size_t most) {
  for (;;) {
    std::unique_ptr<Item> item;
    const MutexLock lock(mutex_);
    if (waiting_ <= most) return;
    item = TakeFirst();
  }
}

std::unique_ptr<StoreRemover::Item> StoreRemover::TakeFirst() {
  std::unique_ptr<Item> item = std::move(first_);
  first_ = std::move(item->next_);
  if (first_ == nullptr) last_ = nullptr;
  --waiting_;
  return item;
}

bool StoreRemover::HasThread() {
  if (thread_.joinable()) return true;
  const SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { Work(); });
    return true;
  } catch (...) {  // no thread or no memory
    thread_not_started.Report(CurrentExceptionError());
    return false;
  }
}

void StoreRemover::Work() {
  for (;;) {
    std::unique_ptr<Item> item;  // destroyed after the lock has been released
    const MutexLock lock(mutex_);
    while (first_ == nullptr && !stopping_) changed_.WaitIdle(mutex_);
    if (first_ == nullptr) return;
    item = TakeFirst();
  }
}

}  // namespace penstock::emulator::server
