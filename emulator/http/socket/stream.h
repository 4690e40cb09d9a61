// Byte streams of accepted sockets: plain here, TLS in tls.h. Sockets are non-blocking. Waits
// happen here, in poll, so that shutdown() from another thread ends every wait.
#ifndef PENSTOCK_EMULATOR_HTTP_SOCKET_STREAM_H_
#define PENSTOCK_EMULATOR_HTTP_SOCKET_STREAM_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "penstock/base/bytes.h"

namespace penstock::emulator::http {

enum class IoStatus {
  kOk,
  kEnd,         // the peer will send no more
  kWouldBlock,  // nothing can move now, and the caller does not wait
  kTimeout,     // nothing moved within the time limit
  kCancelled,   // nothing has arrived, and the caller is not to wait for it (CancelWaitsBy)
  kBroken,      // reset, or a TLS failure: the connection cannot be used any more
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t bytes = 0;  // bytes moved; may be > 0 for writes that failed later
};

// Whether another piece of the same message follows at once. Lets the kernel fill whole segments.
enum class More { kNo, kYes };

// Thread safety: one thread at a time; Interrupt() may be called from any thread while the stream
// lives.
class Stream {
 public:
  // Takes ownership of `fd`, a connected non-blocking socket.
  explicit Stream(int fd) : fd_(fd) {}
  virtual ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int fd() const { return fd_; }

  // Never waits. kOk means 1 to into.size() bytes.
  virtual IoResult TryRead(MutableByteView into) = 0;
  // Writes all of `pieces` (at most kMaxPieces), waiting up to `timeout` for each step of
  // progress; zero: does not wait. After kWouldBlock the next call must begin with the unsent
  // bytes.
  virtual IoResult Write(std::span<const ByteView> pieces, More more,
                         std::chrono::milliseconds timeout) = 0;
  // Sends `count` bytes of `file` from `offset` on. Never waits: after kWouldBlock the next call
  // must begin with the unsent bytes. Returns kBroken also when the file is shorter
  // or cannot be read.
  virtual IoResult SendFile(int file, std::uint64_t offset, std::uint64_t count) = 0;
  // Signals the end of the data to the peer (TLS close_notify, then FIN).
  virtual void EndWriting();
  virtual bool tls() const { return false; }
  virtual std::string_view tls_version() const { return {}; }  // "1.3"; empty: no TLS

  // Waits up to `timeout` for the first byte.
  IoResult Read(MutableByteView into, std::chrono::milliseconds timeout);
  // From when `event` (a descriptor, which outlives the stream) is readable on, Read does not wait:
  // it returns kCancelled. Unlike Interrupt, both sides of the connection stay open.
  void CancelWaitsBy(int event) { cancel_event_ = event; }
  // Closes the connection with RST instead of FIN, even when a forked process holds a copy of the
  // descriptor.
  void Reset();
  // Shuts down both directions, which ends every wait on the socket. close() alone would not, if a
  // forked process holds a copy.
  void Interrupt();
  // Discards bytes that have arrived, at most about `limit_bytes`. Closing a socket with unread
  // bytes sends RST, which can destroy the response before the peer reads it. kEnd: the peer has
  // closed; kWouldBlock: it may send more; kOk: more bytes are available.
  IoStatus Discard(std::size_t limit_bytes);
  // Limits the unsent bytes in the socket buffer to about `bytes`; 0: the system's default.
  void LimitUnsent(int bytes);
  // Bytes that the peer has not acknowledged; 0 if unknown.
  std::size_t UnacknowledgedBytes() const;
  // Makes reads report the end of the stream from now on. Responses can still be written.
  void InterruptReading();

  static constexpr std::size_t kMaxPieces = 64;

 protected:
  // The event to wait for after kWouldBlock: POLLIN, or POLLOUT during a TLS exchange.
  virtual short read_events() const;
  // Returns kOk once one of `events` is ready or the socket has failed (the next call reports it),
  // kCancelled if `cancel_event` is readable first, else kTimeout. With zero timeout returns
  // kWouldBlock at once.
  IoStatus Wait(short events, std::chrono::milliseconds timeout, int cancel_event = -1) const;

 private:
  int fd_;
  int cancel_event_ = -1;  // none; poll ignores it
};

class PlainStream final : public Stream {
 public:
  using Stream::Stream;
  IoResult TryRead(MutableByteView into) override;
  IoResult Write(std::span<const ByteView> pieces, More more,
                 std::chrono::milliseconds timeout) override;
  IoResult SendFile(int file, std::uint64_t offset, std::uint64_t count) override;
};

// "127.0.0.1:54321" or "[::1]:54321" for the socket's peer; "unknown" if it is not connected.
std::string PeerName(int fd);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_SOCKET_STREAM_H_
