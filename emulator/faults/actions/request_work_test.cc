#include "emulator/faults/actions/request_work.h"

#include <gtest/gtest.h>

namespace penstock::emulator::faults {
namespace {

traffic::Work Of(std::string_view method, std::string_view operation) {
  s3::RequestHead head;
  head.method = method;
  s3::Connection connection;
  s3::Exchange exchange{.request = head, .connection = connection};
  exchange.operation = operation;
  return WorkOf(exchange);
}

// Regression: faults and limits classified requests separately. A listing of parts was a read for
// one and a listing for the other.
TEST(RequestWorkTest, FollowsTheOperationNotItsName) {
  using traffic::Work;
  EXPECT_EQ(Of("GET", "GetObject"), Work::kGet);
  EXPECT_EQ(Of("HEAD", "HeadObject"), Work::kHead);
  EXPECT_EQ(Of("PUT", "PutObject"), Work::kWrite);
  EXPECT_EQ(Of("DELETE", "DeleteObject"), Work::kWrite);
  for (const char* name : {"ListParts", "ListBuckets", "ListObjectsV2", "ListMultipartUploads"})
    EXPECT_EQ(Of("GET", name), Work::kList) << name;
  EXPECT_EQ(Of("GET", "ListBucketMetricsConfigurations"), Work::kGet) << "one document";
  EXPECT_EQ(Of("OPTIONS", "OptionsObject"), Work::kGet) << "changes nothing";
}

}  // namespace
}  // namespace penstock::emulator::faults
