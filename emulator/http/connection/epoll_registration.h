// Delivers a connection's epoll events to the serving threads, so that exactly one thread owns the
// connection at a time.
//
// Registration is edge-triggered: a request that is read and answered completely needs no epoll_ctl
// call. An event may therefore arrive while a thread owns the connection. It is recorded, and the
// owner checks for it before it releases the connection. An event may also arrive after the
// connection has been destroyed: an EpollRegistration outlives its connection and is reused.
#ifndef PENSTOCK_EMULATOR_HTTP_CONNECTION_EPOLL_REGISTRATION_H_
#define PENSTOCK_EMULATOR_HTTP_CONNECTION_EPOLL_REGISTRATION_H_

#include <atomic>
#include <cstdint>

namespace penstock::emulator::http {

class WireConnection;

// Thread safety: Claim from any thread, Wake from any thread while the connection lives; other
// methods only from the thread that owns the connection.
class EpollRegistration {
 public:
  enum class Rearmed {
    kYes,    // another thread may already own the connection, and may already have destroyed it
    kRetry,  // an event arrived meanwhile: the caller still owns the connection and serves it
    kFailed  // epoll_ctl failed: the caller still owns the connection
  };

  // Registers `fd` for one connection. No thread owns the connection until an event, whose data is
  // this object's address, is claimed. The connection must not be destroyed before Open returns.
  // Returns false when registration fails.
  bool Open(int epoll, int fd, WireConnection& connection);
  // Called with each event. Returns the connection, which the caller then owns. Returns null when
  // another thread owns it or it is closed.
  WireConnection* Claim();
  // Releases ownership. The caller has read everything that arrived and called StartWait.
  Rearmed Rearm();
  // Like Rearm, when more bytes may have arrived already: the connection is ready at once for the
  // next free thread.
  Rearmed RearmReady();
  // Like Rearm, but only for the event that the socket has room to write.
  Rearmed RearmUntilWritable();
  // Causes an event now if the socket has room to write. A thread that owns the connection may see
  // one event more than was due.
  void Wake();
  // Suppresses events until the next Rearm. Used while the body is read directly, where each piece
  // would wake a thread.
  void Mute();
  // Ends the registration. Events already queued are ignored, or cause one needless read of the
  // connection that uses this object next.
  void Close();

 private:
  // kRetry: owned, and an event has arrived since.
  enum class Phase : std::uint8_t { kClosed, kWaiting, kServed, kRetry };

  static Phase AfterEvent(Phase phase);
  bool Change(std::uint32_t events);
  bool Modify(std::uint32_t events);
  Rearmed Release();

  int epoll_ = -1;
  int fd_ = -1;
  std::uint32_t watched_ = 0;  // registered events
  WireConnection* connection_ = nullptr;
  std::atomic<Phase> phase_{Phase::kClosed};
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_CONNECTION_EPOLL_REGISTRATION_H_
