#include "emulator/faults/actions/replacement_response.h"

#include <algorithm>

#include "emulator/faults/test_support.h"
#include "gtest/gtest.h"

namespace penstock::emulator::faults {
namespace {

using Place = s3::DeliveryStep::Place;
using Kind = s3::DeliveryStep::Kind;

TEST(ReplacementResponseTest, ErrorDetailsDescribeTheRequest) {
  TestRequest request("GET", "/bucket/key?uploadId=up");
  for (const auto& [code, detail] : std::vector<std::pair<std::string, std::string>>{
           {"NoSuchKey", "<Key>key</Key>"},
           {"NoSuchBucket", "<BucketName>bucket</BucketName>"},
           {"NoSuchUpload", "<UploadId>up</UploadId>"}}) {
    ApplyError(request.exchange(), {.status = 404, .code = code});
    EXPECT_NE(std::get<std::string>(request.exchange().response.body).find(detail),
              std::string::npos)
        << code;
    EXPECT_EQ(request.exchange().response.error_code, code);
  }
}

TEST(ReplacementResponseTest, HeadResponseHasNoBody) {
  for (const ErrorBody body : {ErrorBody::kXml, ErrorBody::kEmpty, ErrorBody::kHtml,
                               ErrorBody::kJson, ErrorBody::kTruncatedXml}) {
    TestRequest request("HEAD", "/bucket/key");
    ApplyError(request.exchange(), {.body = body});
    EXPECT_EQ(request.exchange().response.status, 503);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(request.exchange().response.body));
  }
}

TEST(ReplacementResponseTest, SlowDownReasonPhraseIsOnlyFor503) {
  TestRequest request("GET", "/bucket/key");
  ApplyError(request.exchange(), {.status = 503});
  EXPECT_EQ(request.exchange().response.reason, "Slow Down");
  ApplyError(request.exchange(), {.status = 500});
  EXPECT_EQ(request.exchange().response.reason, "");
}

TEST(ReplacementResponseTest, GivenHeaderReplacesExistingOne) {
  TestRequest request("GET", "/bucket/key");
  ApplyError(request.exchange(),
             {.status = 503, .headers = {{"content-type", "text/x"}, {"X-A", "1"}}});
  const s3::Response& response = request.exchange().response;
  EXPECT_EQ(response.Find("Content-Type"), "text/x");
  EXPECT_EQ(std::count_if(response.headers.begin(), response.headers.end(),
                          [](const auto& header) { return header.first.size() == 12; }),
            1);
  EXPECT_EQ(response.Find("x-a"), "1");
}

TEST(ReplacementResponseTest, LateErrorPausesBetweenSpaces) {
  TestRequest request("POST", "/bucket/key?uploadId=up");
  ApplyLateError(request.exchange(),
                 {.after = std::chrono::milliseconds(25), .every = std::chrono::milliseconds(10)});
  const s3::Response& response = request.exchange().response;
  EXPECT_EQ(response.status, 200);
  const std::string declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_TRUE(std::get<std::string>(response.body).starts_with(declaration + "  <Error>"));
  std::vector<std::pair<std::uint64_t, std::int64_t>> waits;  // Offset and milliseconds.
  for (const s3::DeliveryStep& step : response.delivery->steps) {
    waits.emplace_back(step.offset - declaration.size(), step.wait / std::chrono::milliseconds(1));
  }
  EXPECT_EQ(waits, (std::vector<std::pair<std::uint64_t, std::int64_t>>{{0, 10}, {1, 10}, {2, 5}}));
}

TEST(ReplacementResponseTest, BlackHoleCountsWhenItBegins) {
  s3::Delivery delivery;
  AddDrop(delivery, Place::kBody, 7,
          {.kind = DropKind::kHang, .hang = std::chrono::milliseconds(9)}, [] {});
  ASSERT_EQ(delivery.steps.size(), 3U);
  EXPECT_TRUE(delivery.steps[0].done);
  EXPECT_EQ(delivery.steps[0].wait.count(), 0);
  EXPECT_EQ(delivery.steps[1].wait, std::chrono::milliseconds(9));
  EXPECT_EQ(delivery.steps[2].kind, Kind::kFin);
  for (const s3::DeliveryStep& step : delivery.steps) EXPECT_EQ(step.offset, 7U);
}

TEST(ReplacementResponseTest, DroppedRequestHasNoStatus) {
  TestRequest request("GET", "/bucket/key");
  DropConnection(request.exchange(), {.kind = DropKind::kReset}, [] {});
  EXPECT_EQ(request.exchange().response.status, 0);
  EXPECT_EQ(request.exchange().response.delivery->steps.front().kind, Kind::kReset);
}

}  // namespace
}  // namespace penstock::emulator::faults
