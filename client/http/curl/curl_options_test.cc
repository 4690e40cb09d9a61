#include "client/http/curl/curl_options.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace penstock::http {
namespace {

// libcurl does not return option values, but the effect of one of them is visible.
TEST(CurlOptions, OnlyHttpIsAllowed) {
  ASSERT_EQ(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
  CURL* const handle = curl_easy_init();
  ASSERT_NE(handle, nullptr);
  SetConnectionOptions(handle, nullptr, "");
  curl_easy_setopt(handle, CURLOPT_URL, "file:///dev/null");
  EXPECT_EQ(curl_easy_perform(handle), CURLE_UNSUPPORTED_PROTOCOL);
  curl_easy_cleanup(handle);
}

TEST(CurlOptions, ZeroConnectTimeoutIsNotInfinite) {
  CURL* const handle = curl_easy_init();
  ASSERT_NE(handle, nullptr);
  SetConnectionOptions(handle, nullptr, "");
  SetConnectTimeout(handle, std::chrono::milliseconds(0));
  // Reserved for documentation (RFC 5737): no host responds.
  curl_easy_setopt(handle, CURLOPT_URL, "http://192.0.2.1:9/");
  EXPECT_NE(curl_easy_perform(handle), CURLE_OK);
  curl_easy_cleanup(handle);
}

TEST(CurlOptions, FindsAProxyForOneSchemeOrBoth) {
  for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
    ASSERT_EQ(::unsetenv(name), 0);
  EXPECT_FALSE(HasProxyFor("http") || HasProxyFor("https"));
  const auto named_by = [](const char* name) {
    EXPECT_EQ(::setenv(name, "http://p:3128", 1), 0);
    const std::string schemes =
        std::string(HasProxyFor("http") ? "http " : "") + (HasProxyFor("https") ? "https" : "");
    EXPECT_EQ(::unsetenv(name), 0);
    return schemes;
  };
  EXPECT_EQ(named_by("http_proxy"), "http ");
  EXPECT_EQ(named_by("https_proxy"), "https");
  EXPECT_EQ(named_by("HTTPS_PROXY"), "https");
  EXPECT_EQ(named_by("all_proxy"), "http https");
  EXPECT_EQ(named_by("ALL_PROXY"), "http https");
}

}  // namespace
}  // namespace penstock::http
