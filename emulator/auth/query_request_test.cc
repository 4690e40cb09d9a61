#include "emulator/auth/query_request.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

struct Request {
  explicit Request(std::string method, std::string target, std::vector<s3::HeaderView> headers,
                   std::string text = {})
      : method_(std::move(method)), target_(std::move(target)), body_(std::move(text)) {
    head_.method = method_;
    head_.target = target_;
    head_.headers = std::move(headers);
    exchange.body = &body_;
    exchange.target = s3::ParseTarget(target_, "127.0.0.1", {}).value();
  }

 private:
  const std::string method_;
  const std::string target_;
  s3::RequestHead head_;
  s3::Connection connection_;
  TextBody body_;

 public:
  s3::Exchange exchange{head_, connection_};
};

constexpr s3::HeaderView kForm{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"};
constexpr s3::HeaderView kSts{"Authorization",
                              "AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/sts/aws4_request"};
constexpr s3::HeaderView kS3{"Authorization",
                             "AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/s3/aws4_request"};

TEST(QueryRequestTest, ParsesNamesAndValues) {
  const auto parameters = ParseQueryParameters("a=1&b=two+words%21&&empty=&c");
  ASSERT_TRUE(parameters);
  EXPECT_EQ(*parameters,
            (QueryParameters{{"a", "1"}, {"b", "two words!"}, {"empty", ""}, {"c", ""}}));
  EXPECT_TRUE(ParseQueryParameters("")->empty());
  EXPECT_FALSE(ParseQueryParameters("a=%4"));
  EXPECT_FALSE(ParseQueryParameters("%zz=1"));
}

TEST(QueryRequestTest, TheScopeOfTheSignatureSelectsSts) {
  EXPECT_TRUE(IsStsRequest(Request("POST", "/", {kSts, kForm}).exchange));
  EXPECT_FALSE(IsStsRequest(Request("POST", "/", {kS3, kForm}).exchange));
  EXPECT_FALSE(IsStsRequest(Request("GET", "/bucket", {kSts}).exchange));
  EXPECT_TRUE(IsStsRequest(
      Request("GET", "/?X-Amz-Credential=A%2F20260101%2Fus-east-1%2Fsts%2Faws4_request", {})
          .exchange));
}

TEST(QueryRequestTest, UnsignedFormsAndQueriesBelongToSts) {
  EXPECT_TRUE(IsStsRequest(Request("POST", "/", {kForm}).exchange));
  EXPECT_TRUE(IsStsRequest(Request("GET", "/?Action=A&Version=2011-06-15", {}).exchange));
  EXPECT_FALSE(IsStsRequest(Request("GET", "/", {}).exchange));
  EXPECT_FALSE(IsStsRequest(Request("POST", "/bucket", {kForm}).exchange));
}

TEST(QueryRequestTest, ReadsTheBodyAndNamesKnownActions) {
  Request request("POST", "/?X-Amz-Signature=0&Version=2011-06-15", {kSts, kForm},
                  "Action=AssumeRole&RoleSessionName=a+b");
  ASSERT_TRUE(ReadQueryRequest(request.exchange).ok());
  EXPECT_EQ(request.exchange.operation, "AssumeRole");
  const auto* const query = request.exchange.Find<QueryRequest>();
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query->Get("RoleSessionName"), "a b");
  EXPECT_EQ(query->Get("Version"), "2011-06-15");
  EXPECT_EQ(query->Get("X-Amz-Signature"), std::nullopt);
  EXPECT_EQ(query->payload_hash.size(), 64u);

  Request other("POST", "/", {kSts, kForm}, "Action=" + std::string(1000, 'x'));
  ASSERT_TRUE(ReadQueryRequest(other.exchange).ok());
  EXPECT_EQ(other.exchange.operation, "") << "counters keep one entry for each operation";
}

TEST(QueryRequestTest, RefusesLongBodiesAndMalformedForms) {
  Request longer("POST", "/", {kForm}, std::string(kMaxQueryBodyBytes + 1, 'x'));
  EXPECT_EQ(ReadQueryRequest(longer.exchange).error().code, "RequestEntityTooLarge");
  Request exact("POST", "/", {kForm}, std::string(kMaxQueryBodyBytes, 'x'));
  EXPECT_TRUE(ReadQueryRequest(exact.exchange).ok());
  Request malformed("POST", "/", {kForm}, "Action=%");
  EXPECT_EQ(ReadQueryRequest(malformed.exchange).error().code, "MalformedQueryString");
  Request json("POST", "/", {kSts, {"Content-Type", "application/json"}}, "{}");
  EXPECT_EQ(ReadQueryRequest(json.exchange).error().code, "MalformedQueryString");
}

}  // namespace
}  // namespace penstock::emulator::auth
