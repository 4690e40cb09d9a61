#include "emulator/http/socket/stream.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "penstock/base/check.h"

namespace penstock::emulator::http {
namespace {

bool WouldBlock(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

// Removes `bytes` sent bytes from the front of the pieces [first, count).
void Advance(iovec* pieces, std::size_t count, std::size_t& first, std::size_t bytes) {
  while (first < count && bytes >= pieces[first].iov_len) {
    bytes -= pieces[first].iov_len;
    ++first;
  }
  if (first < count) {
    pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + bytes;
    pieces[first].iov_len -= bytes;
  }
}

}  // namespace

Stream::~Stream() {
  Interrupt();
  ::close(fd_);
}

void Stream::EndWriting() { ::shutdown(fd_, SHUT_WR); }

void Stream::Interrupt() { ::shutdown(fd_, SHUT_RDWR); }

void Stream::InterruptReading() { ::shutdown(fd_, SHUT_RD); }

IoStatus Stream::Discard(std::size_t limit_bytes) {
  std::array<std::byte, 16 << 10> unwanted;
  for (std::size_t discarded = 0; discarded < limit_bytes;) {
    const ssize_t got = ::recv(fd_, unwanted.data(), unwanted.size(), MSG_DONTWAIT);
    if (got == 0) return IoStatus::kEnd;
    if (got > 0) discarded += static_cast<std::size_t>(got);
    if (got < 0 && WouldBlock(errno)) return IoStatus::kWouldBlock;
    if (got < 0 && errno != EINTR) return IoStatus::kBroken;
  }
  return IoStatus::kOk;
}

void Stream::LimitUnsent(int bytes) {
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &bytes, sizeof bytes);
}

std::size_t Stream::UnacknowledgedBytes() const {
  int bytes = 0;
  return ::ioctl(fd_, SIOCOUTQ, &bytes) == 0 && bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
}

short Stream::read_events() const { return POLLIN; }

IoStatus Stream::Wait(short events, std::chrono::milliseconds timeout, int cancel_event) const {
  if (timeout.count() == 0) return IoStatus::kWouldBlock;
  const auto end = std::chrono::steady_clock::now() + timeout;
  std::array<pollfd, 2> entries{{{fd_, events, 0}, {cancel_event, POLLIN, 0}}};
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    const int ready = ::poll(entries.data(), entries.size(),
                             static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30)));
    if (ready > 0) return entries[0].revents != 0 ? IoStatus::kOk : IoStatus::kCancelled;
    if (ready == 0) return IoStatus::kTimeout;
    if (errno != EINTR) return IoStatus::kBroken;
  }
}

IoResult Stream::Read(MutableByteView into, std::chrono::milliseconds timeout) {
  for (;;) {
    const IoResult result = TryRead(into);
    if (result.status != IoStatus::kWouldBlock) return result;
    const IoStatus waited = Wait(read_events(), timeout, cancel_event_);
    if (waited != IoStatus::kOk) return {waited, 0};
  }
}

void Stream::Reset() {
  const linger abort{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &abort, sizeof abort);
  // AF_UNSPEC dissolves the association and sends the RST now. close() would wait for the last copy
  // of the descriptor.
  sockaddr unspecified{};
  unspecified.sa_family = AF_UNSPEC;
  ::connect(fd_, &unspecified, sizeof unspecified);
}

IoResult PlainStream::TryRead(MutableByteView into) {
  for (;;) {
    const ssize_t got = ::recv(fd(), into.data(), into.size(), MSG_DONTWAIT);
    if (got > 0) return {IoStatus::kOk, static_cast<std::size_t>(got)};
    if (got == 0) return {IoStatus::kEnd, 0};
    if (errno == EINTR) continue;
    return {WouldBlock(errno) ? IoStatus::kWouldBlock : IoStatus::kBroken, 0};
  }
}

IoResult PlainStream::Write(std::span<const ByteView> pieces, More more,
                            std::chrono::milliseconds timeout) {
  PENSTOCK_CHECK(pieces.size() <= kMaxPieces);
  std::array<iovec, kMaxPieces> left;
  std::size_t count = 0;
  for (const ByteView piece : pieces) {
    if (!piece.empty()) left[count++] = {const_cast<std::byte*>(piece.data()), piece.size()};
  }
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more == More::kYes ? MSG_MORE : 0);
  IoResult result;
  std::size_t first = 0;
  while (first < count) {
    ssize_t sent = 0;
    if (count - first == 1) {  // cheaper in the kernel
      sent = ::send(fd(), left[first].iov_base, left[first].iov_len, flags);
    } else {
      msghdr message{};
      message.msg_iov = &left[first];
      message.msg_iovlen = count - first;
      sent = ::sendmsg(fd(), &message, flags);
    }
    if (sent >= 0) {
      result.bytes += static_cast<std::size_t>(sent);
      Advance(left.data(), count, first, static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    result.status = WouldBlock(errno) ? Wait(POLLOUT, timeout) : IoStatus::kBroken;
    if (result.status != IoStatus::kOk) return result;
  }
  return result;
}

IoResult PlainStream::SendFile(int file, std::uint64_t offset, std::uint64_t count) {
  constexpr std::uint64_t kMaxStep = 1u << 30;
  off_t position = static_cast<off_t>(offset);
  IoResult result;
  while (result.bytes < count) {
    const ssize_t sent =
        ::sendfile(fd(), file, &position, std::min(count - result.bytes, kMaxStep));
    if (sent > 0) {
      result.bytes += static_cast<std::size_t>(sent);
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    result.status = sent < 0 && WouldBlock(errno) ? IoStatus::kWouldBlock : IoStatus::kBroken;
    return result;
  }
  return result;
}

std::string PeerName(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "unknown";
  if (address.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
    ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    return std::string(text.data()) + ":" + std::to_string(ntohs(v4->sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    return "[" + std::string(text.data()) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  return "unknown";
}

}  // namespace penstock::emulator::http
