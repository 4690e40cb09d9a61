#include "client/http/connect/connected_socket.h"

#include <curl/curl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <system_error>

namespace penstock::http {
namespace {

IoResult Failed(int system_error) {
  if (system_error == EAGAIN || system_error == EWOULDBLOCK)
    return {IoResult::Kind::kWouldBlock, 0, {}};
  return {IoResult::Kind::kBroken, 0, std::generic_category().message(system_error)};
}

IoResult FromCurl(CURLcode code, std::size_t count) {
  if (code == CURLE_AGAIN) return {IoResult::Kind::kWouldBlock, 0, {}};
  if (code != CURLE_OK) return {IoResult::Kind::kBroken, 0, curl_easy_strerror(code)};
  return IoResult::Moved(count);
}

iovec Slice(ByteView bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};  // sendmsg only reads it
}

}  // namespace

IoResult ConnectedSocket::Send(ByteView head, ByteView body) {
  if (tls_ != nullptr) return SendTls(head.empty() ? body : head);
  iovec slices[] = {Slice(head), Slice(body)};
  msghdr message{};
  message.msg_iov = head.empty() ? slices + 1 : slices;
  message.msg_iovlen = head.empty() || body.empty() ? 1 : 2;
  for (;;) {
    const ssize_t sent = ::sendmsg(fd_, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) return IoResult::Moved(static_cast<std::size_t>(sent));
    if (errno != EINTR) return Failed(errno);
  }
}

IoResult ConnectedSocket::SendTls(ByteView bytes) {
  std::size_t sent = 0;
  const CURLcode code = curl_easy_send(tls_, bytes.data(), bytes.size(), &sent);
  return FromCurl(code, sent);
}

IoResult ConnectedSocket::Receive(MutableByteView into) {
  if (tls_ != nullptr) {
    std::size_t count = 0;
    const CURLcode code = curl_easy_recv(tls_, into.data(), into.size(), &count);
    IoResult result = FromCurl(code, count);
    if (result.moved() && count == 0) result.kind = IoResult::Kind::kClosed;
    return result;
  }
  for (;;) {
    const ssize_t count = ::recv(fd_, into.data(), into.size(), MSG_DONTWAIT);
    if (count > 0) return IoResult::Moved(static_cast<std::size_t>(count));
    if (count == 0) return {IoResult::Kind::kClosed, 0, {}};
    if (errno != EINTR) return Failed(errno);
  }
}

void ConnectedSocket::SetLowWater(std::size_t bytes) {
  if (bytes == low_water_) return;
  const int value = static_cast<int>(bytes);
  // If the system rejects the option, there are only more wake-ups.
  static_cast<void>(::setsockopt(fd_, SOL_SOCKET, SO_RCVLOWAT, &value, sizeof value));
  low_water_ = bytes;
}

}  // namespace penstock::http
