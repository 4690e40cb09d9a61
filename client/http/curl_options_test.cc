#include "client/http/curl_options.h"

#include <gtest/gtest.h>

namespace penstock::http {
namespace {

// libcurl gives no option back; what one of them does can be seen.
TEST(CurlOptions, OnlyHttpIsSpoken) {
  ASSERT_EQ(curl_global_init(CURL_GLOBAL_DEFAULT), CURLE_OK);
  CURL* const handle = curl_easy_init();
  ASSERT_NE(handle, nullptr);
  SetConnectionOptions(handle, nullptr, "");
  curl_easy_setopt(handle, CURLOPT_URL, "file:///dev/null");
  EXPECT_EQ(curl_easy_perform(handle), CURLE_UNSUPPORTED_PROTOCOL);
  curl_easy_cleanup(handle);
}

TEST(CurlOptions, AConnectTimeoutOfNothingIsNotForever) {
  CURL* const handle = curl_easy_init();
  ASSERT_NE(handle, nullptr);
  SetConnectionOptions(handle, nullptr, "");
  SetConnectTimeout(handle, std::chrono::milliseconds(0));
  curl_easy_setopt(handle, CURLOPT_URL, "http://192.0.2.1:9/");  // reserved for documentation: nobody answers
  EXPECT_NE(curl_easy_perform(handle), CURLE_OK);
  curl_easy_cleanup(handle);
}

}  // namespace
}  // namespace penstock::http
