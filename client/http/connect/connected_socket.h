// One connection that libcurl made and this module reads and writes itself, without copying.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTED_SOCKET_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTED_SOCKET_H_

#include <cstddef>
#include <string>
#include <utility>

#include "base/io/descriptor.h"
#include "penstock/base/bytes.h"

namespace penstock::http {

struct IoResult {
  enum class Kind {
    kMoved,  // `count` bytes, at least one
    kWouldBlock,
    kClosed,  // the peer has closed its side
    kBroken,  // `reason` has the cause
  };
  Kind kind = Kind::kMoved;
  std::size_t count = 0;
  std::string reason;

  static IoResult Moved(std::size_t bytes) { return {Kind::kMoved, bytes, {}}; }
  bool moved() const { return kind == Kind::kMoved; }
};

// Thread safety: belongs to one I/O thread.
class ConnectedSocket {
 public:
  // A plain connection.
  explicit ConnectedSocket(Descriptor socket) : own_(std::move(socket)), fd_(own_.get()) {}
  // A connection over TLS. libcurl's handle `tls` (CURL*) has connected with CURLOPT_CONNECT_ONLY,
  // owns the descriptor, transfers all bytes and must outlive this object.
  ConnectedSocket(void* tls, int fd) : tls_(tls), fd_(fd) {}

  int fd() const { return fd_; }
  // If true, received bytes may be buffered inside, where poll does not see them: receive until
  // kWouldBlock.
  bool buffers() const { return tls_ != nullptr; }

  // Neither blocks. Send writes bytes of `head`, then of `body`. One of them may be empty.
  IoResult Send(ByteView head, ByteView body);
  IoResult Receive(MutableByteView into);

  // The socket becomes readable only with this many bytes, or at its end. 1: with any byte. Over
  // TLS the bytes of the records count, which are more than their content.
  void SetLowWater(std::size_t bytes);

 private:
  IoResult SendTls(ByteView bytes);

  Descriptor own_;       // none with TLS
  void* tls_ = nullptr;  // null: plain
  int fd_;
  std::size_t low_water_ = 1;
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_CONNECTED_SOCKET_H_
