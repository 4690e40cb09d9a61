// One connection that libcurl made and this module reads and writes itself: bytes go where they
// belong, without a copy.
#ifndef PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_SOCKET_H_
#define PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_SOCKET_H_

#include <curl/curl.h>

#include <cstddef>
#include <string>

#include "penstock/base/bytes.h"

namespace penstock::http {

struct IoResult {
  enum class Kind {
    kMoved,  // `count` bytes, at least one
    kWouldBlock,
    kClosed,  // the peer has ended its side
    kBroken,  // `reason` says why
  };
  Kind kind = Kind::kMoved;
  std::size_t count = 0;
  std::string reason;

  static IoResult Moved(std::size_t bytes) { return {Kind::kMoved, bytes, {}}; }
  bool moved() const { return kind == Kind::kMoved; }
};

// Thread safety: belongs to one I/O thread.
class DirectSocket {
 public:
  // `handle` has connected with CURLOPT_CONNECT_ONLY, owns the descriptor and outlives this. Over
  // TLS every byte goes through it, else past it.
  DirectSocket(CURL* handle, int fd, bool is_tls) : handle_(handle), fd_(fd), is_tls_(is_tls) {}

  int fd() const { return fd_; }
  // True: what was not received may wait inside, where no poll sees it; receive until kWouldBlock.
  bool buffers() const { return is_tls_; }

  // Neither waits. Send: of `head`, then of `body`; either may be empty, not both.
  IoResult Send(ByteView head, ByteView body);
  IoResult Receive(MutableByteView into);

  // The socket becomes readable only with so many bytes, or at its end; 1: with any. Over TLS its
  // records' bytes count, which are more than they carry.
  void SetLowWater(std::size_t bytes);

 private:
  IoResult SendTls(ByteView bytes);

  CURL* handle_;
  int fd_;
  bool is_tls_;
  std::size_t low_water_ = 1;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_DIRECT_DIRECT_SOCKET_H_
