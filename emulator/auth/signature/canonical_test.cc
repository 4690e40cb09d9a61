#include "emulator/auth/signature/canonical.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "base/digest.h"
#include "base/encoding.h"
#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/signature/signing_key.h"

namespace penstock::emulator::auth {
namespace {

TEST(CanonicalPathTest, KeepsUnreservedCharactersAndSlashes) {
  EXPECT_EQ(CanonicalPath("/a-b.c_d~e/F9//x/../."), "/a-b.c_d~e/F9//x/../.");
}

TEST(CanonicalPathTest, EncodesExactlyOnce) {
  EXPECT_EQ(CanonicalPath("/a b!%21%7e%c3%a9"), "/a%20b%21%21~%C3%A9");
}

TEST(CanonicalPathTest, ReadsAnUnencodedPlusAsASpace) {
  EXPECT_EQ(CanonicalPath("/a+b%2Bc"), "/a%20b%2Bc");
}

TEST(CanonicalPathTest, ReencodesABarePercentSign) { EXPECT_EQ(CanonicalPath("/100%"), "/100%25"); }

TEST(CanonicalPathTest, DecodesAnEncodedSlash) { EXPECT_EQ(CanonicalPath("/a%2Fb"), "/a/b"); }

TEST(CanonicalPathTest, DropsTheAuthorityOfAnAbsoluteTarget) {
  EXPECT_EQ(CanonicalPath("http://127.0.0.1:9000/b/k"), "/b/k");
  EXPECT_EQ(CanonicalPath("http://127.0.0.1:9000"), "/");
}

TEST(CanonicalQueryTest, SortsByEncodedNameThenValue) {
  EXPECT_EQ(CanonicalQuery("b=2&a=2&a=1&Z=0", ""), "Z=0&a=1&a=2&b=2");
}

TEST(CanonicalQueryTest, NameSortsBeforeALongerName) {
  EXPECT_EQ(CanonicalQuery("Param-3=Value3&Param=Value2", ""), "Param=Value2&Param-3=Value3");
}

TEST(CanonicalQueryTest, AppendsAnEqualsSignWithoutAValue) {
  EXPECT_EQ(CanonicalQuery("acl", ""), "acl=");
}

TEST(CanonicalQueryTest, EncodesSlashesAndPlus) {
  EXPECT_EQ(CanonicalQuery("p=a/b+c%20d", ""), "p=a%2Fb%2Bc%20d");
}

TEST(CanonicalQueryTest, LeavesOutTheSignature) {
  EXPECT_EQ(CanonicalQuery("a=1&X-Amz-Signature=abc&b=2", "X-Amz-Signature"), "a=1&b=2");
}

// The hashes of the canonical requests in AWS's documentation.
TEST(CanonicalRequestTest, HashesToThePublishedValue) {
  TestExchange test(ExampleGet());
  const std::string canonical =
      CanonicalRequest({.head = test.exchange.request,
                        .raw_path = "/test.txt",
                        .raw_query = "",
                        .query_leave_out = "",
                        .signed_headers = {"host", "range", "x-amz-content-sha256", "x-amz-date"},
                        .payload_hash = kEmptySha256});
  EXPECT_EQ(HexEncode(Sha256(AsBytes(canonical))),
            "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972");
}

// Cases of the generic SigV4 test suite (as in aws-c-auth) that fit S3's rules: service "service",
// credentials AKIDEXAMPLE, 20150830T123600Z. Signed are host, the case's headers and x-amz-date.
struct SuiteCase {
  const char* name;
  std::string target;
  std::vector<std::pair<std::string, std::string>> headers;
  const char* signature;
};

std::string SuiteSignature(const SuiteCase& suite_case) {
  TestRequest request{
      .method = "GET", .target = suite_case.target, .headers = suite_case.headers, .body = {}};
  request.headers.emplace_back("Host", "example.amazonaws.com");
  request.headers.emplace_back("X-Amz-Date", "20150830T123600Z");
  TestExchange test(request);
  std::vector<std::string> names;
  for (auto [name, value] : request.headers) {
    for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::size_t question = request.target.find('?');
  const std::string canonical =
      CanonicalRequest({.head = test.exchange.request,
                        .raw_path = std::string_view(request.target).substr(0, question),
                        .raw_query = question == std::string::npos
                                         ? std::string_view()
                                         : std::string_view(request.target).substr(question + 1),
                        .query_leave_out = "",
                        .signed_headers = {names.begin(), names.end()},
                        .payload_hash = kEmptySha256});
  const Sha256Digest key = DeriveSigningKey({.secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                                             .day = "20150830",
                                             .region = "us-east-1",
                                             .service = "service"});
  return Signature(
      HmacSha256Key(key),
      StringToSign("20150830T123600Z", "20150830/us-east-1/service/aws4_request", canonical));
}

TEST(CanonicalRequestTest, MatchesTheGenericSuite) {
  const std::string unreserved =
      "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const std::vector<SuiteCase> cases = {
      {"get-vanilla", "/", {}, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"get-header-key-duplicate",
       "/",
       {{"My-Header1", "value2"}, {"My-Header1", "value2"}, {"My-Header1", "value1"}},
       "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea"},
      {"get-header-value-multiline",
       "/",
       {{"My-Header1", "value1\n  value2\n     value3"}},
       "cfd34249e4b1c8d6b91ef74165d41a32e5fab3306300901bb65a51a73575eefd"},
      {"get-header-value-order",
       "/",
       {{"My-Header1", "value4"},
        {"My-Header1", "value1"},
        {"My-Header1", "value3"},
        {"My-Header1", "value2"}},
       "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01"},
      {"get-header-value-trim",
       "/",
       {{"My-Header1", " value1"}, {"My-Header2", " \"a   b   c\""}},
       "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736"},
      {"get-relative-unnormalized",
       "/example/..",
       {},
       "eca7ead57bb5aa5c8e28007acd4ff04e1ff9a0ff3b237ec1554a184887ff9282"},
      {"get-slash-dot-slash-unnormalized",
       "/./",
       {},
       "68714168e6557f8f2de0ef956fc24dc2593a4bd2961f8df51898d8a134695145"},
      {"get-slash-unnormalized",
       "//",
       {},
       "c88bcd3d312d75078c0cd961d6deae3f4c754924b01669efcfcb439fd5e5b76e"},
      {"get-slashes-unnormalized",
       "//example//",
       {},
       "87cca117541a147f6df867677d98a7d80dff226d2bfca9e4ffa899665623c7e5"},
      {"get-space-unnormalized",
       "/example space/",
       {},
       "652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741"},
      {"get-unreserved",
       "/" + unreserved,
       {},
       "07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f"},
      {"get-utf8",
       "/\xE1\x88\xB4",
       {},
       "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
      {"get-vanilla-query-order-encoded",
       "/?Param-3=Value3&Param=Value2&%E1%88%B4=Value1",
       {},
       "371d3713e185cc334048618a97f809c9ffe339c62934c032af5a0e595648fcac"},
      {"get-vanilla-query-unreserved",
       "/?" + unreserved + "=" + unreserved,
       {},
       "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
      {"get-vanilla-utf8-query",
       "/?\xE1\x88\xB4=bar",
       {},
       "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
  };
  for (const SuiteCase& suite_case : cases)
    EXPECT_EQ(SuiteSignature(suite_case), suite_case.signature) << suite_case.name;
}

}  // namespace
}  // namespace penstock::emulator::auth
