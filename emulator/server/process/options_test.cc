#include "emulator/server/process/options.h"

#include <gtest/gtest.h>

namespace penstock::emulator::server {
namespace {

std::string Complaint(EmulatorOptions options) {
  const auto checked = CheckedOptions(std::move(options));
  return checked.ok() ? "" : checked.error().message;
}

TEST(OptionsTest, FillsInTheDefaultKey) {
  const auto checked = CheckedOptions({});
  ASSERT_TRUE(checked.ok());
  ASSERT_EQ(checked->access_keys.size(), 1u);
  EXPECT_EQ(checked->access_keys[0].id, "penstock");
}

TEST(OptionsTest, RefusesInvalidOptions) {
  EXPECT_NE(Complaint({.port = 65536}).find("65536"), std::string::npos);
  EXPECT_NE(Complaint({.port = -1}).find("port must be 0 to 65535 (0: any free port), not -1"),
            std::string::npos);
  EXPECT_NE(Complaint({.admin_port = -2}).find(", not -2"), std::string::npos);
  EXPECT_NE(Complaint({.fail_rate = 1.5}).find("0 to 1"), std::string::npos);
  EXPECT_NE(Complaint({.first_byte_delay_ms = 60'001}).find("0 to 60000 ms, not 60001"),
            std::string::npos);
  EXPECT_NE(Complaint({.fail_rate = -0.1}).find("0 to 1"), std::string::npos);
  for (const char* bad : {"", "us east", "us/east", "us.east", "-x", "1", "\u00E9u", "a\n"}) {
    EXPECT_NE(Complaint({.region = bad}).find("invalid region '" + std::string(bad) + "'"),
              std::string::npos)
        << bad;
  }
  EXPECT_NE(Complaint({.region = std::string(64, 'a')}).find("at most 63 characters"),
            std::string::npos);
  for (const char* good :
       {"us-east-1", "local", "garage", "default", "auto", "us_east", "Mars", "nyc3"}) {
    EXPECT_EQ(Complaint({.region = good}), "") << good;
  }
  for (const std::uint64_t bytes :
       {std::uint64_t{1}, std::uint64_t{(128 << 10) - 1}, ~std::uint64_t{0}}) {
    EXPECT_EQ(
        Complaint({.journal_bytes = bytes}),
        "journal size must be 131072 (128 KiB) to 1099511627776 (1 TiB), or 0 for no journal, "
        "not " +
            std::to_string(bytes));
  }
  for (const std::uint64_t bytes : {0, 128 << 10})
    EXPECT_EQ(Complaint({.journal_bytes = bytes}), "");
  EXPECT_EQ(
      Complaint({.memory_limit_bytes = 1000}),
      "memory limit must be 1048576 (1MiB) or more, or 0 for a share of this machine's memory, "
      "not 1000");
  EXPECT_EQ(Complaint({.memory_limit_bytes = 1 << 20}), "");
  EXPECT_EQ(Complaint({.data_directory = "/data", .memory_limit_bytes = 1 << 20}), "");
  EXPECT_NE(Complaint({.host = ""}).find("host"), std::string::npos);
  EXPECT_NE(Complaint({.tls_certificate_path = "x"}).find("both"), std::string::npos);
}

TEST(OptionsTest, AnAdminListenerForOtherMachinesNeedsAToken) {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "emulator.test"}) {
    EXPECT_EQ(
        Complaint({.admin_host = host}),
        "admin host '" + std::string(host) +
            "' can be reached from other machines, and admin requests need no signature; "
            "give an admin token (--admin-token-file FILE, PENSTOCK_EMULATOR_ADMIN_TOKEN), or "
            "leave the admin host out");
    EXPECT_EQ(Complaint({.admin_host = host, .admin_token = "t"}), "");
    EXPECT_EQ(Complaint({.admin_host = host, .admin_port = -1}), "");
  }
  for (const char* host : {"127.0.0.2", "::1", "localhost"})
    EXPECT_EQ(Complaint({.admin_host = host}), "");
}

TEST(OptionsTest, StrictDurabilityNeedsADirectory) {
  EXPECT_EQ(
      Complaint({.durability = DurabilityMode::kStrict}),
      "strict durability needs a data directory, because buckets in memory end with the process; "
      "give a data directory (--data DIR, in Python data), or leave strict durability out");
  EXPECT_EQ(Complaint({.data_directory = "/data", .durability = DurabilityMode::kStrict}), "");
}

TEST(OptionsTest, RefusesAllowedHostsThatNoHeaderCanHave) {
  for (const char* bad : {"", "a b", "a\n", "http://a", "\u00E9", "a,b"}) {
    EXPECT_NE(Complaint({.admin_allowed_hosts = {"good", bad}})
                  .find("invalid allowed host '" + std::string(bad) + "'"),
              std::string::npos)
        << bad;
  }
  EXPECT_EQ(Complaint({.admin_allowed_hosts = {"a", "b.c-d_e", "box:80", "10.0.0.1", "[::1]:9"}}),
            "");
}

TEST(OptionsTest, RefusesTokensThatNoHeaderCanHave) {
  for (const char* bad : {"hush\n", "hu\nsh", "hush\x7f", "hush\t", " hush", "hush "}) {
    const std::string complaint = Complaint({.admin_token = bad});
    EXPECT_NE(complaint.find("admin token"), std::string::npos) << complaint;
    EXPECT_NE(complaint.find("; remove it"), std::string::npos) << complaint;
    EXPECT_EQ(complaint.find("hu"), std::string::npos) << complaint;
  }
  EXPECT_NE(Complaint({.admin_token = "ab\nc"}).find("character 3 of the admin token"),
            std::string::npos);
  EXPECT_EQ(Complaint({.admin_token = "two words"}), "");
}

TEST(OptionsTest, RefusesPathsWithANul) {
  const std::string cut("/tmp/x\0/y", 9);
  EXPECT_EQ(Complaint({.data_directory = cut}),
            "data directory '/tmp/x' is followed by a NUL character, which ends a path; remove it");
  EXPECT_NE(Complaint({.users_path = cut}).find("users file"), std::string::npos);
  EXPECT_NE(Complaint({.tls_certificate_path = cut, .tls_key_path = "k"}).find("TLS certificate"),
            std::string::npos);
  EXPECT_NE(Complaint({.tls_certificate_path = "c", .tls_key_path = cut}).find("TLS key"),
            std::string::npos);
  EXPECT_NE(Complaint({.faults_path = cut}).find("faults file"), std::string::npos);
  EXPECT_NE(Complaint({.log_path = cut}).find("log file"), std::string::npos);
}

TEST(OptionsTest, RefusesKeysWithoutShowingASecret) {
  for (const AccessKey& key :
       {AccessKey{"", "hush"}, AccessKey{"a/b", "hush"}, AccessKey{"a b", "hush"}}) {
    const std::string complaint = Complaint({.access_keys = {key}});
    EXPECT_FALSE(complaint.empty());
    EXPECT_EQ(complaint.find("hush"), std::string::npos);
  }
  EXPECT_NE(Complaint({.access_keys = {{"a", ""}}}).find("empty secret"), std::string::npos);
  EXPECT_NE(Complaint({.access_keys = {{"a", "1"}, {"a", "2"}}}).find("twice"), std::string::npos);
}

TEST(EndpointUrlTest, ReturnsAnAddressThatClientsCanReach) {
  EXPECT_EQ(EndpointUrl("http", "127.0.0.1", 80), "http://127.0.0.1:80");
  EXPECT_EQ(EndpointUrl("https", "0.0.0.0", 443), "https://127.0.0.1:443");
  EXPECT_EQ(EndpointUrl("http", "::", 80), "http://[::1]:80");
}

TEST(OptionsTest, EventSinksAreChecked) {
  EXPECT_EQ(Complaint({.event_sinks = {"arn:a=file:/a", "*=http://127.0.0.1:8000/"}}), "");
  EXPECT_NE(Complaint({.event_sink_ca_path = std::string("a\0b", 3)}).find("CA file"),
            std::string::npos);
  EXPECT_NE(Complaint({.event_sinks = {"queue=file:/a"}}).find("event sink 'queue'"),
            std::string::npos);
}

}  // namespace
}  // namespace penstock::emulator::server
