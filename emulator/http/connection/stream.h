// The bytes of one accepted socket: plain here, TLS in tls.h. Sockets are non-blocking; waiting is
// done here, in poll, so that shutdown() from another thread ends every wait.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_STREAM_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_STREAM_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "penstock/base/bytes.h"

namespace penstock::emulator::http {

enum class IoStatus {
  kOk,
  kEnd,         // the peer will send no more
  kWouldBlock,  // nothing can move now, and the caller does not wait
  kTimeout,     // nothing moved for as long as the caller was willing to wait
  kBroken,      // reset, or a TLS failure: the connection is dead
};

struct IoResult {
  IoStatus status = IoStatus::kOk;
  std::size_t bytes = 0;  // moved; may be > 0 for writes that failed later
};

// Whether another piece of the same message follows at once; lets the kernel fill whole segments.
enum class More { kNo, kYes };

// Thread safety: one thread at a time; Interrupt() from any thread while the stream lives.
class Stream {
 public:
  // Takes over `fd`, a connected non-blocking socket, and closes it when destroyed.
  explicit Stream(int fd) : fd_(fd) {}
  virtual ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  int fd() const { return fd_; }

  // Never waits. kOk: 1 to into.size() bytes.
  virtual IoResult TryRead(MutableByteView into) = 0;
  // Moves all of `pieces` (at most kMaxPieces), waiting up to `patience` for each step of progress;
  // zero: not at all. What follows kWouldBlock begins with the bytes that did not leave.
  virtual IoResult Write(std::span<const ByteView> pieces, More more,
                         std::chrono::milliseconds patience) = 0;
  // Sends `count` bytes of file `file` from `offset` on; kBroken also when the file is shorter or
  // unreadable.
  virtual IoResult SendFile(int file, std::uint64_t offset, std::uint64_t count,
                            std::chrono::milliseconds patience) = 0;
  // Tells the peer that nothing more will come (TLS close_notify, then FIN).
  virtual void EndWriting();
  virtual bool tls() const { return false; }

  // Waits up to `patience` for the first byte.
  IoResult Read(MutableByteView into, std::chrono::milliseconds patience);
  // Ends the connection with RST instead of FIN, also when a forked process holds a copy of the
  // descriptor.
  void Reset();
  // FIN both ways; every wait on the socket ends. close() alone would not do where a forked process
  // holds a copy.
  void Interrupt();
  // Throws away what has arrived, at most `limit_bytes`: closing a socket with unread bytes sends
  // RST, and an RST can overtake the answer on its way to the peer. kEnd: the peer has ended;
  // kWouldBlock: it may send more; kOk: more is here.
  IoStatus Discard(std::size_t limit_bytes);
  // The socket holds no more than about so many bytes that cannot leave yet; 0: as many as the
  // system lets it.
  void LimitUnsent(int bytes);
  // Bytes that the peer has not yet taken; 0 where nobody can tell.
  std::size_t Untaken() const;
  // The peer's bytes read as an end from now on; answers can still be written.
  void InterruptReading();

  static constexpr std::size_t kMaxPieces = 64;

 protected:
  // What TryRead waits for after kWouldBlock: POLLIN, or POLLOUT in the middle of a TLS exchange.
  virtual short read_events() const;
  // kOk once one of `events` is there (or the socket broke: the next call tells), kTimeout
  // otherwise; without patience kWouldBlock at once.
  IoStatus Wait(short events, std::chrono::milliseconds patience) const;

 private:
  int fd_;
};

class PlainStream final : public Stream {
 public:
  using Stream::Stream;
  IoResult TryRead(MutableByteView into) override;
  IoResult Write(std::span<const ByteView> pieces, More more,
                 std::chrono::milliseconds patience) override;
  IoResult SendFile(int file, std::uint64_t offset, std::uint64_t count,
                    std::chrono::milliseconds patience) override;
};

// "127.0.0.1:54321" or "[::1]:54321" of the socket's peer; "unknown" when it has none any more.
std::string PeerName(int fd);

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_STREAM_H_
