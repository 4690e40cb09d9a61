#include "emulator/lifecycle/worker.h"

#include <algorithm>
#include <utility>

#include "base/log/caught.h"

namespace penstock::emulator::lifecycle {
namespace {

using std::chrono::nanoseconds;

// The machine's clock may be set, and the monotonic clock stops while the machine sleeps. Both move
// a midnight closer than the wait assumes, so the time is read again after a while.
constexpr std::chrono::minutes kLongestWait{10};
constexpr std::chrono::seconds kPauseAfterFailure{1};

}  // namespace

Worker::Worker(Members members) : members_(std::move(members)), thread_([this] { Work(); }) {}

Worker::~Worker() {
  Stop();
  thread_.join();
}

void Worker::Wake() {
  const MutexLock lock(mutex_);
  woken_ = true;
  changed_.NotifyAll();
}

void Worker::Stop() {
  stopping_ = true;
  Wake();
}

void Worker::Work() {
  while (!stopping_) {
    const auto until = std::chrono::steady_clock::now() + RunMembers();
    const MutexLock lock(mutex_);
    while (!woken_ && changed_.WaitUntil(mutex_, until)) continue;
    woken_ = false;
  }
}

nanoseconds Worker::RunMembers() {
  nanoseconds wait = kLongestWait;
  const auto run = [&](Member& member) {
    auto until = member.UntilRun();
    if (until && *until <= nanoseconds(0) && !stopping_) {
      member.RunDue([this] { return stopping_.load(); });
      until = member.UntilRun();
    }
    if (until) wait = std::clamp(*until, nanoseconds(0), wait);
  };
  const auto pause_unless = [&](const Result<void>& ran) {
    if (!ran.ok()) wait = std::min<nanoseconds>(wait, kPauseAfterFailure);
  };
  pause_unless(Caught("the list of namespaces for lifecycle runs", [&] {
    for (const std::shared_ptr<Member>& member : members_())
      pause_unless(Caught("a lifecycle run", [&] { run(*member); }));
  }));
  return wait;
}

}  // namespace penstock::emulator::lifecycle
