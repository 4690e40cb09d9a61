#include "emulator/server/namespaces/namespace_clock.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <thread>

#include "base/dates.h"

namespace penstock::emulator::server {
namespace {

using std::chrono::nanoseconds;

// The last second before 2262, near the end of 64-bit nanoseconds.
constexpr std::int64_t kLatest = 9'214'646'399'000'000'000;
constexpr double kSlowest = 0.001;
constexpr double kFastest = 1'000;

__extension__ using Wide = __int128;  // can hold every product of a time and a rate

std::int64_t NanosecondsOf(WallTime time) {
  return std::chrono::duration_cast<nanoseconds>(time.time_since_epoch()).count();
}

WallTime TimeOf(std::int64_t count) {
  return WallTime(std::chrono::duration_cast<WallTime::duration>(nanoseconds(count)));
}

}  // namespace

std::int64_t NamespaceClock::MachineNanoseconds() const { return NanosecondsOf(machine_.Now()); }

std::int64_t NamespaceClock::Course::At(std::int64_t machine_now) const {
  if (frozen) return shown;
  const std::int64_t passed = machine_now - machine;
  const auto there = static_cast<Wide>(shown) + static_cast<Wide>(passed) * rate / kMillion;
  return static_cast<std::int64_t>(std::min<Wide>(there, kLatest));
}

// The machine's clock is read between two reads of the version. A change reads it after making the
// version odd. So no reading of the old course is later than the start of the new one.
NamespaceClock::Reading NamespaceClock::Read() const {
  for (;;) {
    const std::uint64_t version = version_.load();
    Reading reading;
    reading.course = {.machine = course_machine_.load(),
                      .shown = course_shown_.load(),
                      .rate = course_rate_.load(),
                      .frozen = course_frozen_.load()};
    reading.machine = MachineNanoseconds();
    if (version % 2 == 0 && version_.load() == version) {
      reading.shown = reading.course.At(reading.machine);
      return reading;
    }
    std::this_thread::yield();
  }
}

WallTime NamespaceClock::Now() const { return TimeOf(Read().shown); }

Result<NamespaceClock::Course> NamespaceClock::Changed(const Course& course,
                                                       const ClockChange& change,
                                                       std::int64_t machine_now) {
  std::int64_t now = change.now ? NanosecondsOf(*change.now) : course.At(machine_now);
  const std::int64_t advance = std::chrono::duration_cast<nanoseconds>(change.advance).count();
  const bool overflow = __builtin_add_overflow(now, advance, &now);
  if (overflow || now < 0 || now > kLatest) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the clock would leave the years 1970 to 2261; change it by less");
  }
  if (change.rate && !(*change.rate >= kSlowest && *change.rate <= kFastest)) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "rate must be 0.001 to 1000 times the machine's, not " + std::to_string(*change.rate));
  }
  Course next{.machine = machine_now,
              .shown = now,
              .rate = change.rate ? std::llround(*change.rate * kMillion) : course.rate,
              .frozen = change.frozen.value_or(course.frozen)};
  // A clock that keeps running moves by exactly the advance.
  if (!change.now && !course.frozen && !next.frozen && next.rate == course.rate) {
    next.machine = course.machine;
    next.shown = course.shown + advance;
  }
  return next;
}

void NamespaceClock::Follow(const Course& course) {
  course_machine_.store(course.machine);
  course_shown_.store(course.shown);
  course_rate_.store(course.rate);
  course_frozen_.store(course.frozen);
}

Result<void> NamespaceClock::Change(const ClockChange& change) {
  const MutexLock lock(change_mutex_);
  const Course course = Read().course;
  const std::uint64_t version = version_.load();
  version_.store(version + 1);
  auto next = Changed(course, change, MachineNanoseconds());
  if (next.ok()) Follow(*next);
  version_.store(version + 2);
  if (!next.ok()) return std::move(next).error();
  return Ok();
}

void NamespaceClock::Restore() {
  const MutexLock lock(change_mutex_);
  const std::uint64_t version = version_.load();
  version_.store(version + 1);
  Follow(Course{});
  version_.store(version + 2);
}

ClockState NamespaceClock::State() const {
  const Reading reading = Read();
  ClockState state;
  state.now = TimeOf(reading.shown);
  state.frozen = reading.course.frozen;
  state.offset = nanoseconds(reading.shown - reading.machine);
  state.rate = static_cast<double>(reading.course.rate) / kMillion;
  return state;
}

}  // namespace penstock::emulator::server
