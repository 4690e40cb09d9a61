#include "emulator/http/connection/epoll_registration.h"

#include <sys/epoll.h>

namespace penstock::emulator::http {
namespace {

constexpr std::uint32_t kNothing = EPOLLET;
constexpr std::uint32_t kArrivals = EPOLLIN | EPOLLRDHUP | EPOLLET;
constexpr std::uint32_t kRoom = EPOLLOUT | EPOLLET;

}  // namespace

bool EpollRegistration::Open(int epoll, int fd, WireConnection& connection) {
  epoll_ = epoll;
  fd_ = fd;
  connection_ = &connection;
  // While the phase is kClosed, no thread can claim the connection, even by a stale event.
  epoll_event event{};
  event.events = kNothing;
  event.data.ptr = this;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd_, &event) != 0) return false;
  watched_ = kArrivals;  // before another thread can own the connection
  phase_.store(Phase::kWaiting, std::memory_order_release);
  event.events = kArrivals;
  ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd, &event);  // also reports bytes that arrived already
  return true;
}

EpollRegistration::Phase EpollRegistration::AfterEvent(Phase phase) {
  switch (phase) {
    case Phase::kWaiting: return Phase::kServed;
    case Phase::kServed: return Phase::kRetry;
    case Phase::kRetry:
    case Phase::kClosed: break;
  }
  return phase;
}

WireConnection* EpollRegistration::Claim() {
  Phase phase = Phase::kWaiting;
  // Writes even when the phase stays the same: a read-modify-write reads the latest value.
  while (!phase_.compare_exchange_weak(phase, AfterEvent(phase), std::memory_order_acq_rel)) {
  }
  return phase == Phase::kWaiting ? connection_ : nullptr;
}

EpollRegistration::Rearmed EpollRegistration::Rearm() {
  if (watched_ != kArrivals && !Change(kArrivals)) return Rearmed::kFailed;
  return Release();
}

EpollRegistration::Rearmed EpollRegistration::RearmUntilWritable() {
  // The edge follows a write that found no room, even if EPOLLOUT is registered afterwards.
  if (watched_ != kRoom && !Change(kRoom)) return Rearmed::kFailed;
  return Release();
}

EpollRegistration::Rearmed EpollRegistration::RearmReady() {
  // The socket is usually writable, so that adding EPOLLOUT produces an event at once.
  return Change(kArrivals | kRoom) ? Release() : Rearmed::kFailed;
}

EpollRegistration::Rearmed EpollRegistration::Release() {
  Phase phase = Phase::kServed;
  if (phase_.compare_exchange_strong(phase, Phase::kWaiting, std::memory_order_acq_rel))
    return Rearmed::kYes;
  phase_.exchange(Phase::kServed, std::memory_order_acq_rel);
  return Rearmed::kRetry;
}

void EpollRegistration::Mute() { Change(kNothing); }

void EpollRegistration::Close() {
  // Explicit, because closing the descriptor does not remove it from the set when a forked process
  // holds a copy.
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, fd_, nullptr);
  phase_.store(Phase::kClosed, std::memory_order_release);
}

void EpollRegistration::Wake() { Modify(kArrivals | kRoom); }

bool EpollRegistration::Change(std::uint32_t events) {
  watched_ = events;
  return Modify(events);
}

bool EpollRegistration::Modify(std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = this;
  return ::epoll_ctl(epoll_, EPOLL_CTL_MOD, fd_, &event) == 0;
}

}  // namespace penstock::emulator::http
