#include "emulator/server/process/service_manager.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "base/io/descriptor.h"

namespace penstock::emulator::server {

Result<void> NotifyReady(const std::string& address) {
  sockaddr_un peer{.sun_family = AF_UNIX, .sun_path = {}};
  if (address.size() >= sizeof peer.sun_path) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "NOTIFY_SOCKET '" + address + "' is longer than 107 bytes");
  }
  std::copy(address.begin(), address.end(), peer.sun_path);
  if (address.starts_with('@')) peer.sun_path[0] = '\0';
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.size());
  constexpr std::string_view kReady = "READY=1";
  const Descriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (sendto(socket.get(), kReady.data(), kReady.size(), MSG_NOSIGNAL,
             reinterpret_cast<const sockaddr*>(&peer), length) < 0) {
    return Error::Make(ErrorKind::kUnavailable,
                       "cannot notify NOTIFY_SOCKET '" + address + "': " + std::strerror(errno));
  }
  return Ok();
}

}  // namespace penstock::emulator::server
