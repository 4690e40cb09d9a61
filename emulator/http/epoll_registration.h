// What tells the serving threads that a connection has something to be served, and sees to it that
// one of them serves it.
//
// The epoll set tells of what arrives as it arrives (edges), so that a request that came whole and
// was answered whole costs no change of the set. An event may therefore find its connection with a
// thread: it leaves word, and the thread looks again before it leaves. It may even find the
// connection gone: a EpollRegistration outlives its connection, and serves the next one.
#ifndef PENSTOCK_EMULATOR_HTTP_EPOLL_REGISTRATION_H_
#define PENSTOCK_EMULATOR_HTTP_EPOLL_REGISTRATION_H_

#include <atomic>
#include <cstdint>

namespace penstock::emulator::http {

class WireConnection;

// Thread safety: Claim from any thread; all else from the thread that owns the connection.
class EpollRegistration {
 public:
  enum class Rearmed {
    kYes,    // another thread may own the connection already, and may already have destroyed it
    kRetry,  // something came meanwhile: the caller still owns the connection and serves it
    kFailed  // it cannot be watched: the caller still owns it
  };

  // Watches `fd` from now on, for one connection, which belongs to nobody until an event, whose
  // data is the EpollRegistration's address, is claimed. It must not be destroyed before Open
  // returns. False: it cannot be watched.
  bool Open(int epoll, int fd, WireConnection& connection);
  // Called with each event. Returns the connection, which the caller then owns, or null: somebody
  // else will see to it.
  WireConnection* Claim();
  // Ends the caller's ownership. All that has arrived has been read, and StartWait called.
  Rearmed Rearm();
  // The same, though more may have arrived already: the connection is due at once, for whichever
  // thread is free.
  Rearmed RearmReady();
  // The same for who waits for room to write: it is told of nothing else.
  Rearmed RearmUntilWritable();
  // No events until the connection is left: its body is read as it comes, and each piece would wake
  // a thread.
  void Mute();
  // The connection ends. Events that were on their way do nothing, or give its successor a look in
  // vain.
  void Close();

 private:
  // kRetry: served, and told of something that came since.
  enum class Phase : std::uint8_t { kClosed, kWaiting, kServed, kRetry };

  static Phase AfterEvent(Phase phase);
  bool Change(std::uint32_t events);
  Rearmed Release();

  int epoll_ = -1;
  int fd_ = -1;
  std::uint32_t watched_ = 0;  // for what events
  WireConnection* connection_ = nullptr;
  std::atomic<Phase> phase_{Phase::kClosed};
};

}  // namespace penstock::emulator::http

#endif  // PENSTOCK_EMULATOR_HTTP_EPOLL_REGISTRATION_H_
