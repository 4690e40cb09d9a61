#include "client/http/environment_proxy.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace penstock::http {
namespace {

using Variables = std::map<std::string, std::string>;

// "address (variable)", or nothing.
std::string Named(const Variables& variables, const std::string& scheme = "http", const std::string& host = "s3.local") {
  const auto proxy = ProxyFor({scheme, host, 9000}, [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  return proxy ? proxy->address + " (" + proxy->variable + ")" : std::string();
}

TEST(EnvironmentProxy, TheSchemesOwnVariableComesFirst) {
  EXPECT_EQ(Named({}), "");
  EXPECT_EQ(Named({{"http_proxy", "http://p:3128"}, {"all_proxy", "http://q:1"}}), "p:3128 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "http://p:3128"}, {"all_proxy", "http://q:1"}}, "https"), "q:1 (all_proxy)");
  EXPECT_EQ(Named({{"HTTPS_PROXY", "p:1"}}, "https"), "p:1 (HTTPS_PROXY)");
  EXPECT_EQ(Named({{"HTTP_PROXY", "p:1"}}), "") << "libcurl does not read it";
  EXPECT_EQ(Named({{"http_proxy", ""}, {"ALL_PROXY", "p:1"}}), "p:1 (ALL_PROXY)");
}

TEST(EnvironmentProxy, CredentialsAreNeverShown) {
  for (const char* url : {"http://user:secret@p:3128/", "user:secret@p:3128", "http://user:se/cret@p:3128", "http://u@secret@p:3128/x"}) {
    EXPECT_EQ(Named({{"http_proxy", url}}), "p:3128 (http_proxy)") << url;
  }
}

TEST(EnvironmentProxy, APortThatIsNotGivenIsLibcurls) {
  EXPECT_EQ(Named({{"http_proxy", "http://p"}}), "p:1080 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "HTTPS://p/"}}), "p:443 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "socks5h://[::1]"}}), "[::1]:1080 (http_proxy)");
  EXPECT_EQ(Named({{"http_proxy", "http://[::1]:8"}}), "[::1]:8 (http_proxy)");
}

TEST(EnvironmentProxy, WhatCannotBePrintedIsNot) {
  EXPECT_EQ(Named({{"http_proxy", "p\r\nx:1"}}), "p??x:1 (http_proxy)");
}

TEST(EnvironmentProxy, NamesAreExcludedByDomain) {
  for (const char* list : {"*", "s3.local", "S3.LOCAL", "local", ".local", "a, b ,local", "x,s3.local.", "x\tlocal"}) {
    EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}), "") << list;
  }
  for (const char* list : {"", "ocal", "3.local", "x.s3.local", "127.0.0.1", ",", ".", "s3.local:9000"}) {
    EXPECT_NE(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}), "") << list;
  }
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"NO_PROXY", "local"}}), "");
  EXPECT_NE(Named({{"http_proxy", "p:1"}, {"NO_PROXY", "local"}, {"no_proxy", "x"}}), "") << "the small one counts";
}

TEST(EnvironmentProxy, AddressesAreExcludedByNetwork) {
  for (const char* list : {"10.1.2.3", "10.0.0.0/8", "10.1.2.0/23", "x,10.1.2.2/31", "0.0.0.0/0"}) {
    EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}, "http", "10.1.2.3"), "") << list;
  }
  for (const char* list : {"10.1.2.4", "10.1.2.4/31", "10.0.0.0/33", "2.3", "::/0", "10.1.2.3.example"}) {
    EXPECT_NE(Named({{"http_proxy", "p:1"}, {"no_proxy", list}}, "http", "10.1.2.3"), "") << list;
  }
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", "[::1]"}}, "http", "::1"), "");
  EXPECT_EQ(Named({{"http_proxy", "p:1"}, {"no_proxy", "fd00::/8"}}, "http", "fd12::1"), "");
}

}  // namespace
}  // namespace penstock::http
