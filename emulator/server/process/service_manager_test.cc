#include "emulator/server/process/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/io/descriptor.h"
#include "emulator/server/server_fixture.h"

namespace penstock::emulator::server {
namespace {

TEST(ServiceManagerTest, NotifiesPathsAndAbstractSockets) {
  const TemporaryFolder folder;
  const std::string path = folder.path() + "/notify";
  for (const bool is_abstract : {false, true}) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    const std::size_t skipped = is_abstract ? 1 : 0;  // the name follows a zero byte
    path.copy(address.sun_path + skipped, path.size());
    const Descriptor manager(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const auto length =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + skipped + path.size());
    ASSERT_EQ(::bind(manager.get(), reinterpret_cast<const sockaddr*>(&address), length), 0);
    EXPECT_TRUE(NotifyReady((is_abstract ? "@" : "") + path).ok());
    char text[64];
    const ssize_t count = ::recv(manager.get(), text, sizeof text, 0);
    EXPECT_EQ(std::string(text, static_cast<std::size_t>(std::max<ssize_t>(count, 0))), "READY=1");
  }
}

TEST(ServiceManagerTest, UnusableSocketsAreErrors) {
  for (const std::string& address : {std::string("/missing/notify"), std::string(108, 'x')}) {
    const auto notified = NotifyReady(address);
    ASSERT_FALSE(notified.ok());
    EXPECT_NE(notified.error().message.find("NOTIFY_SOCKET '" + address + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace penstock::emulator::server
