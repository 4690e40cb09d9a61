#include "emulator/server/admin/admin_hosts.h"

#include <gtest/gtest.h>

namespace penstock::emulator::server {
namespace {

TEST(AdminHostsTest, AllowsLoopbackWithAnyPort) {
  const AdminHosts hosts("127.0.0.1", {});
  for (const char* host : {"localhost", "LOCALHOST:9001", "localhost.:80", "127.0.0.1",
                           "127.0.0.1:1", "127.9.9.9:65535", "[::1]", "[::1]:9001", "::1"}) {
    EXPECT_TRUE(hosts.Allows(host)) << host;
  }
}

TEST(AdminHostsTest, RefusesNamesAndOtherAddresses) {
  const AdminHosts hosts("127.0.0.1", {});
  for (const char* host :
       {"", "evil.example", "evil.example:9001", "localhost.evil.example", "127.0.0.1.evil.example",
        "xlocalhost", "10.0.0.1", "0.0.0.0", "2130706433", "0x7f.1", "127.1", "[::ffff:10.0.0.1]:1",
        "[fe80::1]", "[", "[]", "a:b:c", "127.0.0.1@evil"}) {
    EXPECT_FALSE(hosts.Allows(host)) << host;
  }
}

TEST(AdminHostsTest, AllowsTheBoundAddressAndGivenNames) {
  const AdminHosts hosts("10.0.0.1", {"Emulator", "s3.test.:80"});
  for (const char* host : {"10.0.0.1:9001", "emulator:1", "EMULATOR", "s3.test", "127.0.0.1"})
    EXPECT_TRUE(hosts.Allows(host)) << host;
  for (const char* host : {"10.0.0.2", "emulators", "test"})
    EXPECT_FALSE(hosts.Allows(host)) << host;
}

TEST(AdminHostsTest, WildcardAddressAllowsOnlyLiteralAddresses) {
  for (const char* bound : {"0.0.0.0", "::", "[::]"}) {
    const AdminHosts hosts(bound, {});
    for (const char* host : {"10.0.0.1:9001", "192.168.1.7", "[fe80::1]:80"})
      EXPECT_TRUE(hosts.Allows(host)) << bound << " " << host;
    EXPECT_FALSE(hosts.Allows("evil.example")) << bound;
  }
}

}  // namespace
}  // namespace penstock::emulator::server
