#include "emulator/server/namespace_clock.h"

#include "base/dates.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::nanoseconds;

// The last second before 2262, where 64 bits of nanoseconds end.
constexpr std::int64_t kLatest = 9'214'646'399'000'000'000;

std::int64_t NanosecondsOf(WallTime time) {
  return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

WallTime TimeOf(std::int64_t count) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(nanoseconds(count)));
}

}  // namespace

std::int64_t NamespaceClock::MachineNanoseconds() const { return NanosecondsOf(machine_.Now()); }

// Resuming stores the offset before it unfreezes, so that whoever finds the clock running finds the new offset.
std::int64_t NamespaceClock::NowNanoseconds() const {
  const std::int64_t frozen = frozen_.load(std::memory_order_acquire);
  return frozen != kRunning ? frozen : MachineNanoseconds() + offset_.load(std::memory_order_acquire);
}

WallTime NamespaceClock::Now() const { return TimeOf(NowNanoseconds()); }

Result<void> NamespaceClock::Change(const ClockChange& change) {
  const MutexLock lock(change_mutex_);
  std::int64_t now = change.now ? NanosecondsOf(*change.now) : NowNanoseconds();
  const std::int64_t advance = std::chrono::duration_cast<nanoseconds>(change.advance).count();
  const bool overflow = __builtin_add_overflow(now, advance, &now);
  if (overflow || now < 0 || now > kLatest) {
    return Error::Make(ErrorKind::kInvalidArgument, "the clock would leave the years 1970 to 2261; move it less");
  }
  if (change.frozen.value_or(frozen_.load() != kRunning)) {
    frozen_.store(now, std::memory_order_release);
    return Ok();
  }
  // A running clock that is advanced moves by exactly that much: no time passes between two readings of the machine's.
  const bool runs_on = !change.now && frozen_.load() == kRunning;
  offset_.store(runs_on ? offset_.load() + advance : now - MachineNanoseconds(), std::memory_order_release);
  frozen_.store(kRunning, std::memory_order_release);
  return Ok();
}

void NamespaceClock::Restore() {
  const MutexLock lock(change_mutex_);
  offset_.store(0, std::memory_order_release);
  frozen_.store(kRunning, std::memory_order_release);
}

ClockState NamespaceClock::State() const {
  const MutexLock lock(change_mutex_);
  const std::int64_t now = NowNanoseconds();
  ClockState state;
  state.now = TimeOf(now);
  state.frozen = frozen_.load() != kRunning;
  state.offset = nanoseconds(state.frozen ? now - MachineNanoseconds() : offset_.load());
  return state;
}

}  // namespace penstock::emulator::server
