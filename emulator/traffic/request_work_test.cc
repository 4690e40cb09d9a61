#include "emulator/traffic/request_work.h"

#include <gtest/gtest.h>

#include "emulator/s3/dispatch/operations.h"

namespace penstock::emulator::traffic {
namespace {

Work Of(std::string_view method, std::string_view operation) {
  s3::RequestHead head;
  head.method = method;
  s3::Connection connection;
  s3::Exchange exchange{head, connection};
  exchange.operation = operation;
  return WorkOf(exchange);
}

// Regression: faults and limits classified requests separately. A listing of parts was a read for
// one and a listing for the other.
TEST(RequestWorkTest, FollowsTheOperationNotItsName) {
  EXPECT_EQ(Of("GET", "GetObject"), Work::kGet);
  EXPECT_EQ(Of("HEAD", "HeadObject"), Work::kHead);
  EXPECT_EQ(Of("PUT", "PutObject"), Work::kWrite);
  EXPECT_EQ(Of("DELETE", "DeleteObject"), Work::kWrite);
  for (const char* name : {"ListParts", "ListBuckets", "ListObjectsV2", "ListMultipartUploads"})
    EXPECT_EQ(Of("GET", name), Work::kList) << name;
  EXPECT_EQ(Of("GET", "ListBucketMetricsConfigurations"), Work::kGet) << "one document";
  EXPECT_EQ(Of("OPTIONS", "OptionsObject"), Work::kGet) << "changes nothing";
}

TEST(RequestIdentityTest, IsTheSameForARetryAndAnotherForARangeOrPart) {
  const auto identity = [](std::string_view target, std::vector<s3::HeaderView> headers = {}) {
    s3::RequestHead head{.method = "GET", .target = target, .headers = std::move(headers)};
    s3::Connection connection;
    s3::Exchange exchange{head, connection};
    exchange.target = s3::ParseTarget(target, "127.0.0.1", {}).value();
    exchange.operation = s3::OperationName(head, exchange.target);
    return RequestIdentity(exchange);
  };
  const std::string object = identity("/b/k", {{"amz-sdk-request", "attempt=1"}});
  EXPECT_EQ(identity("/b/k", {{"amz-sdk-request", "attempt=2"}}), object);
  EXPECT_NE(identity("/b/k", {{"Range", "bytes=0-1"}}), object);
  EXPECT_NE(identity("/b/l"), object);
  EXPECT_NE(identity("/b/k?tagging"), object);
  EXPECT_NE(identity("/b/k?partNumber=2"), object);
}

}  // namespace
}  // namespace penstock::emulator::traffic
