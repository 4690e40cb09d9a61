#include "client/http/exchange/request_rules.h"

#include <gtest/gtest.h>

#include <functional>

#include "client/http/body_for_test.h"

namespace penstock::http {
namespace {

Request ValidRequest() {
  Request request;
  request.method = "GET";
  request.endpoint = {"https", "h", 443};
  request.target = "/k";
  request.headers = {{"Host", "h"}};
  return request;
}

TEST(CheckRequest, AcceptsAValidRequest) { EXPECT_TRUE(CheckRequest(ValidRequest()).ok()); }

TEST(CheckRequest, RejectsInvalidAndSplittingRequests) {
  const std::function<void(Request&)> faults[] = {
      [](Request& r) { r.endpoint.scheme = "ftp"; },
      [](Request& r) { r.endpoint.host.clear(); },
      [](Request& r) { r.endpoint.port = 65536; },
      [](Request& r) { r.method = "get"; },
      [](Request& r) { r.method = "GET / X\r\n"; },
      [](Request& r) { r.target = "k"; },
      [](Request& r) { r.target = "/a b"; },
      [](Request& r) { r.target = "/\xc3\xa9"; },
      [](Request& r) { r.target = "/a#b"; },
      [](Request& r) {
        r.headers.push_back({"A", "b\r\nC: d"});
      },
      [](Request& r) {
        r.headers.push_back({"", "b"});
      },
      [](Request& r) {
        r.headers.push_back({"A:", "b"});
      },
      [](Request& r) { r.headers.clear(); },
      [](Request& r) {
        r.headers.push_back({"content-length", "1"});
      },
  };
  for (const auto& fault : faults) {
    Request request = ValidRequest();
    fault(request);
    const Result<void> checked = CheckRequest(request);
    ASSERT_FALSE(checked.ok());
    EXPECT_EQ(checked.error().kind, ErrorKind::kInvalidArgument);
  }
}

TEST(Uploads, PutAndPostAlwaysHaveALength) {
  Request request = ValidRequest();
  EXPECT_FALSE(Uploads(request, nullptr));
  request.method = "PUT";
  EXPECT_TRUE(Uploads(request, nullptr));
  EXPECT_EQ(UploadSize(nullptr), 0u);
  TextBody body("abc");
  EXPECT_EQ(UploadSize(&body), 3u);
}

}  // namespace
}  // namespace penstock::http
