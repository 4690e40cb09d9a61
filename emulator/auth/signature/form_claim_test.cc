#include "emulator/auth/signature/form_claim.h"

#include <gtest/gtest.h>

#include "emulator/auth/auth_fixture.h"

namespace penstock::emulator::auth {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

// A POST policy: base64 of this JSON, made with Python, and its signature.
constexpr std::string_view kPolicy =
    "eyJleHBpcmF0aW9uIjogIjIwMTMtMDUtMjVUMDA6MDA6MDBaIiwgImNvbmRpdGlvbnMiOiBbeyJidWNrZXQiOiAiZXhhbX"
    "BsZWJ1Y2tldCJ9LC"
    "BbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci8iXSwgWyJjb250ZW50LWxlbmd0aC1yYW5nZSIsIDEsIDEwNDg1NzZd"
    "LCB7IngtYW16LWFs"
    "Z29yaXRobSI6ICJBV1M0LUhNQUMtU0hBMjU2In0sIHsieC1hbXotY3JlZGVudGlhbCI6ICJBS0lBSU9TRk9ETk43RVhBTV"
    "BMRS8yMDEzMDUyNC"
    "91cy1lYXN0LTEvczMvYXdzNF9yZXF1ZXN0In0sIHsieC1hbXotZGF0ZSI6ICIyMDEzMDUyNFQwMDAwMDBaIn1dfQ==";
constexpr std::string_view kPolicySignature =
    "73e37c5f30369bd0e6b4e0847807562f4d81d93ee4e3b385bc0c3fc55c45dddb";

Fields Signed() {
  return {{"key", "user/a"},
          {"policy", std::string(kPolicy)},
          {"x-amz-algorithm", "AWS4-HMAC-SHA256"},
          {"x-amz-credential", std::string(kExampleKey) + "/20130524/us-east-1/s3/aws4_request"},
          {"x-amz-date", "20130524T000000Z"},
          {"x-amz-signature", std::string(kPolicySignature)}};
}

void Set(Fields& fields, std::string_view name, std::optional<std::string> value) {
  for (auto field = fields.begin(); field != fields.end(); ++field) {
    if (field->first != name) continue;
    if (!value) {
      fields.erase(field);
    } else {
      field->second = *value;
    }
    return;
  }
  fields.emplace_back(name, *value);
}

class FormAuthTest : public ::testing::Test {
 protected:
  // Posts the form. Returns the response's error code, or "" on success.
  std::string Post(const Fields& fields, AuthOptions options = ExampleOptions(),
                   Fields headers = {}) {
    const auto auth = AuthChain(std::move(options), user_, router_);
    std::string form;
    for (const auto& [name, value] : fields) {
      form +=
          "--b\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n";
    }
    form +=
        "--b\r\nContent-Disposition: form-data; name=\"file\"; "
        "filename=\"f\"\r\n\r\ncontent\r\n--b--\r\n";
    headers.emplace_back("Host", "examplebucket.s3.amazonaws.com");
    headers.emplace_back("Content-Type", "multipart/form-data; boundary=b");
    TestExchange request(
        {.method = "POST", .target = "/", .headers = std::move(headers), .body = std::move(form)});
    auth->Handle(request.exchange);
    body_ = std::holds_alternative<std::string>(request.exchange.response.body)
                ? std::get<std::string>(request.exchange.response.body)
                : std::string();
    return request.exchange.response.error_code;
  }
  bool Says(std::string_view text) const { return body_.find(text) != std::string::npos; }

  OneUser user_;
  RecordingRouter router_;
  std::string body_;
};

TEST_F(FormAuthTest, AdmitsAFormWithAValidSignature) {
  EXPECT_EQ(Post(Signed()), "") << body_;
  EXPECT_EQ(router_.calls, 1);
  EXPECT_EQ(router_.operation, "PostObject");
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey);
  ASSERT_TRUE(router_.body.ok());
  EXPECT_EQ(*router_.body, "content");
}

// The example of AWS's documentation ("sigv4-post-example"): a policy with CR LF, another day.
TEST_F(FormAuthTest, AdmitsTheExampleOfAwsDocumentation) {
  Fields fields = Signed();
  Set(fields, "policy",
      std::string("eyAiZXhwaXJhdGlvbiI6ICIyMDE1LTEyLTMwVDEyOjAwOjAwLjAwMFoiLA0KICAiY29uZGl0aW9ucyI6"
                  "IFsNCiAgICB7ImJ1Y2tldCI6ICJzaW"
                  "d2NGV4YW1wbGVidWNrZXQifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRrZXkiLCAidXNlci91c2VyMS"
                  "8iXSwNCiAgICB7ImFjbCI6ICJwdWJs"
                  "aWMtcmVhZCJ9LA0KICAgIHsic3VjY2Vzc19hY3Rpb25fcmVkaXJlY3QiOiAiaHR0cDovL3NpZ3Y0ZXhh"
                  "bXBsZWJ1Y2tldC5zMy5hbWF6b25hd3"
                  "MuY29tL3N1Y2Nlc3NmdWxfdXBsb2FkLmh0bWwifSwNCiAgICBbInN0YXJ0cy13aXRoIiwgIiRDb250ZW"
                  "50LVR5cGUiLCAiaW1hZ2UvIl0sDQog"
                  "ICAgeyJ4LWFtei1tZXRhLXV1aWQiOiAiMTQzNjUxMjM2NTEyNzQifSwNCiAgICB7IngtYW16LXNlcnZl"
                  "ci1zaWRlLWVuY3J5cHRpb24iOiAiQU"
                  "VTMjU2In0sDQogICAgWyJzdGFydHMtd2l0aCIsICIkeC1hbXotbWV0YS10YWciLCAiIl0sDQoNCiAgIC"
                  "B7IngtYW16LWNyZWRlbnRpYWwiOiAi"
                  "QUtJQUlPU0ZPRE5ON0VYQU1QTEUvMjAxNTEyMjkvdXMtZWFzdC0xL3MzL2F3czRfcmVxdWVzdCJ9LA0K"
                  "ICAgIHsieC1hbXotYWxnb3JpdGhtIj"
                  "ogIkFXUzQtSE1BQy1TSEEyNTYifSwNCiAgICB7IngtYW16LWRhdGUiOiAiMjAxNTEyMjlUMDAwMDAwWi"
                  "IgfQ0KICBdDQp9"));
  Set(fields, "x-amz-credential", std::string(kExampleKey) + "/20151229/us-east-1/s3/aws4_request");
  Set(fields, "x-amz-date", "20151229T000000Z");
  Set(fields, "x-amz-signature",
      "8afdbf4008c03f22c2cd3cdb72e4afbb1f6a588f3255ac628749a66d7f09699e");
  EXPECT_EQ(Post(fields), "") << body_;
}

// base64(HMAC-SHA1(secret, policy)), made with Python's hmac.
TEST_F(FormAuthTest, AdmitsAVersionTwoSignature) {
  Fields fields{{"key", "user/a"},
                {"policy", std::string(kPolicy)},
                {"AWSAccessKeyId", std::string(kExampleKey)},
                {"signature", "nnToubYeiA3h7dkEATxCzT0d+s8="}};
  EXPECT_EQ(Post(fields), "") << body_;
  Set(fields, "signature", "AAAA");
  EXPECT_EQ(Post(fields), "SignatureDoesNotMatch");
  Set(fields, "signature", std::nullopt);
  EXPECT_EQ(Post(fields), "InvalidArgument");
  EXPECT_TRUE(Says("<ArgumentName>Signature</ArgumentName>"));
  AuthOptions frankfurt = ExampleOptions();
  frankfurt.region = "eu-central-1";
  Set(fields, "signature", "AAAA");
  EXPECT_EQ(Post(fields, frankfurt, {}), "InvalidRequest") << "the region never accepted version 2";
}

TEST_F(FormAuthTest, MismatchErrorShowsTheSignedPolicy) {
  Fields fields = Signed();
  Set(fields, "policy", std::string(kPolicy.substr(0, kPolicy.size() - 2)));
  EXPECT_EQ(Post(fields), "SignatureDoesNotMatch");
  EXPECT_TRUE(Says("<StringToSign>" + std::string(kPolicy.substr(0, kPolicy.size() - 2)) +
                   "</StringToSign>"));
  EXPECT_FALSE(Says("CanonicalRequest"));
  EXPECT_FALSE(Says(kExampleSecret));
  fields = Signed();
  Set(fields, "x-amz-signature", std::string(64, '0'));
  EXPECT_EQ(Post(fields), "SignatureDoesNotMatch");
  EXPECT_EQ(router_.calls, 0);
}

// The order in which missing fields are reported was recorded against Amazon S3.
TEST_F(FormAuthTest, NamesMissingFields) {
  const auto missed = [&](std::initializer_list<std::string_view> names) {
    Fields fields = Signed();
    for (const std::string_view name : names) Set(fields, name, std::nullopt);
    const std::string code = Post(fields);
    const auto at = body_.find("<ArgumentName>");
    return at == std::string::npos ? code
                                   : body_.substr(at + 14, body_.find("</Arg", at) - at - 14);
  };
  EXPECT_EQ(missed({"x-amz-signature"}), "X-Amz-Signature");
  EXPECT_TRUE(
      Says("Bucket POST must contain a field named 'X-Amz-Signature'.  If it is specified, please "
           "check the order of the fields."));
  EXPECT_EQ(missed({"x-amz-algorithm", "x-amz-credential"}), "X-Amz-Algorithm");
  EXPECT_EQ(missed({"x-amz-date"}), "X-Amz-Date");
  EXPECT_EQ(missed({"policy"}), "Policy");
  EXPECT_EQ(missed({"x-amz-algorithm", "x-amz-credential", "x-amz-date", "x-amz-signature"}),
            "AccessDenied");
  EXPECT_EQ(router_.calls, 0);
}

TEST_F(FormAuthTest, RefusesInvalidCredentials) {
  const auto refused = [&](std::string_view field, const std::string& value,
                           std::string_view message) {
    Fields fields = Signed();
    Set(fields, field, value);
    EXPECT_EQ(Post(fields), "InvalidArgument") << value;
    EXPECT_TRUE(Says(message)) << body_;
    EXPECT_TRUE(Says("<ArgumentValue>" + value + "</ArgumentValue>")) << body_;
  };
  const std::string key(kExampleKey);
  refused("x-amz-credential", key + "/20130524/eu-west-1/s3/aws4_request",
          "the region 'eu-west-1' is wrong; expecting 'us-east-1'");
  refused("x-amz-credential", "/20130524/us-east-1/s3/aws4_request",
          "a non-empty Access Key (AKID) must be provided in the credential.");
  refused("x-amz-credential", key, "the Credential is mal-formed; expecting");
  refused("x-amz-credential", key + "/2013/us-east-1/s3/aws4_request", "incorrect date format");
  refused("x-amz-credential", key + "/20130524/us-east-1/ec2/aws4_request", "incorrect service");
  refused("x-amz-credential", key + "/20130524/us-east-1/s3/aws4", "incorrect terminal");
  refused("x-amz-credential", key + "/20130525/us-east-1/s3/aws4_request",
          "This date is not the same as X-Amz-Date");
  refused("x-amz-date", "2013-05-24", "X-Amz-Date must be formated via ISO8601 Long format");
  refused("x-amz-algorithm", "AWS4-HMAC-SHA1", "X-Amz-Algorithm only supports");
}

TEST_F(FormAuthTest, RefusesUnknownInactiveAndExpiredKeys) {
  Fields fields = Signed();
  Set(fields, "x-amz-credential", "NOBODY/20130524/us-east-1/s3/aws4_request");
  EXPECT_EQ(Post(fields), "InvalidAccessKeyId");
  user_.user.session_token = "token";
  EXPECT_EQ(Post(Signed()), "InvalidAccessKeyId") << "a temporary key without its token";
  fields = Signed();
  Set(fields, "x-amz-security-token", "token");
  EXPECT_EQ(Post(fields), "");
  user_.user.expires = user_.clock.Now();
  EXPECT_EQ(Post(fields), "ExpiredToken");
}

// The policy limits when a form may be sent. The date of its signature does not.
TEST_F(FormAuthTest, FormDateIsNotChecked) {
  user_.clock.Advance(std::chrono::hours(24 * 300));
  EXPECT_EQ(Post(Signed()), "");
}

TEST_F(FormAuthTest, UnsignedFormsNeedAPermissiveMode) {
  const Fields unsigned_form{{"key", "k"}};
  EXPECT_EQ(Post(unsigned_form), "AccessDenied");
  AuthOptions options = ExampleOptions();
  options.allow_anonymous = true;
  EXPECT_EQ(Post(unsigned_form, options), "");
  EXPECT_TRUE(router_.identity.anonymous());
  options = ExampleOptions();
  options.mode = Mode::kOff;
  EXPECT_EQ(Post(unsigned_form, options), "");
  EXPECT_EQ(router_.identity.access_key_id, kExampleKey) << "every request has the first key";
  options.mode = Mode::kParse;
  Fields forged = Signed();
  Set(forged, "x-amz-signature", "forged");
  EXPECT_EQ(Post(forged, options), "");
  Set(forged, "x-amz-date", "never");
  EXPECT_EQ(Post(forged, options), "InvalidArgument");
}

TEST_F(FormAuthTest, RefusesTwoMechanisms) {
  Fields both = Signed();
  Set(both, "AWSAccessKeyId", std::string(kExampleKey));
  Set(both, "signature", "AAAA");
  EXPECT_EQ(Post(both), "InvalidArgument");
  EXPECT_TRUE(Says("Only one auth mechanism allowed"));
}

TEST_F(FormAuthTest, RefusesMalformedFormsBeforeTheRouter) {
  const auto auth = AuthChain(ExampleOptions(), user_, router_);
  TestExchange plain({.method = "POST",
                      .target = "/",
                      .headers = {{"Host", "examplebucket.s3.amazonaws.com"}},
                      .body = "x"});
  auth->Handle(plain.exchange);
  EXPECT_EQ(plain.exchange.response.status, 412);
  EXPECT_EQ(plain.exchange.form, nullptr);
  EXPECT_EQ(router_.calls, 0);
}

}  // namespace
}  // namespace penstock::emulator::auth
