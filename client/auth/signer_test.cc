// Examples of the Amazon S3 documentation, vectors made with botocore 1.43.11, and the signer's own
// rules.
#include "client/auth/signer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "client/http/uri.h"

namespace penstock::auth {
namespace {

constexpr WallTime kTime{std::chrono::seconds(1369353600)};  // 2013-05-24T00:00:00Z
constexpr std::string_view kHost = "examplebucket.s3.amazonaws.com";

Credentials Example(std::string token = {}) {
  return {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", std::move(token), {}};
}

http::Request Make(std::string method, std::string target, std::vector<http::Header> headers = {}) {
  http::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.headers = std::move(headers);
  if (!http::FindHeader(request.headers, "Host")) {
    request.headers.insert(request.headers.begin(), {"Host", std::string(kHost)});
  }
  return request;
}

// The hash of the canonical request is the last line of the string to sign.
std::string CanonicalHash(const SignatureTrace& trace) {
  return trace.string_to_sign.substr(trace.string_to_sign.rfind('\n') + 1);
}

SignatureTrace SignWith(http::Request request, std::string_view hash,
                        const Credentials& credentials = Example(),
                        const SigningScope& scope = {"us-east-1"}) {
  SignatureTrace trace;
  const Result<void> result = Signer(scope).Sign(request, credentials, {kTime, hash}, &trace);
  EXPECT_TRUE(result.ok());
  return trace;
}

SignatureTrace PresignWith(http::Request request, int seconds,
                           const Credentials& credentials = Example(),
                           const SigningScope& scope = {"us-east-1"}) {
  SignatureTrace trace;
  const PresignInput input{kTime, std::chrono::seconds(seconds), kUnsignedPayload};
  EXPECT_TRUE(Signer(scope).Presign(request, credentials, input, &trace).ok());
  return trace;
}

TEST(SignerVectors, GetRange) {
  const SignatureTrace trace =
      SignWith(Make("GET", "/test.txt", {{"Range", "bytes=0-9"}}), kEmptyPayloadSha256);
  EXPECT_EQ(CanonicalHash(trace),
            "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972");
  EXPECT_EQ(trace.signature, "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(SignerVectors, PutObject) {
  const std::string hash = PayloadSha256(AsBytes("Welcome to Amazon S3."));
  EXPECT_EQ(hash, "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072");
  const SignatureTrace trace = SignWith(Make("PUT", "/" + http::EncodePath("test$file.text"),
                                             {{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
                                              {"x-amz-storage-class", "REDUCED_REDUNDANCY"}}),
                                        hash);
  EXPECT_EQ(CanonicalHash(trace),
            "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d");
  EXPECT_EQ(trace.signature, "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SignerVectors, GetBucketLifecycle) {
  const SignatureTrace trace = SignWith(Make("GET", "/?lifecycle"), kEmptyPayloadSha256);
  EXPECT_EQ(CanonicalHash(trace),
            "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca");
  EXPECT_EQ(trace.signature, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
}

TEST(SignerVectors, ListObjects) {
  const SignatureTrace trace = SignWith(Make("GET", "/?max-keys=2&prefix=J"), kEmptyPayloadSha256);
  EXPECT_EQ(CanonicalHash(trace),
            "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7");
  EXPECT_EQ(trace.signature, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

TEST(SignerVectors, PresignedGet) {
  const SignatureTrace trace = PresignWith(Make("GET", "/test.txt"), 86400);
  EXPECT_EQ(CanonicalHash(trace),
            "3bfa292879f6447bbcda7001decf97f4a54dc650c8942174ae0a9121cf58ad04");
  EXPECT_EQ(trace.signature, "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404");
}

std::vector<http::Header> ChunkedHeaders() {
  return {{"Host", "s3.amazonaws.com"},
          {"Content-Encoding", "aws-chunked"},
          {"x-amz-decoded-content-length", "66560"},
          {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
}

TEST(SignerVectors, SeedOfASignedChunkedUpload) {
  http::Request request = Make("PUT", "/examplebucket/chunkObject.txt", ChunkedHeaders());
  request.headers.push_back({"Content-Length", "66824"});
  const SignatureTrace trace = SignWith(request, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD");
  EXPECT_EQ(CanonicalHash(trace),
            "cee3fed04b70f867d036f722359b0b1f2f0e5dc0efadbc082b76c4c60e316455");
  EXPECT_EQ(trace.signature, "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9");
}

TEST(SignerVectors, SeedOfASignedChunkedUploadWithTrailer) {
  http::Request request = Make("PUT", "/examplebucket/chunkObject.txt", ChunkedHeaders());
  request.headers.push_back({"x-amz-trailer", "x-amz-checksum-crc32c"});
  const SignatureTrace trace = SignWith(request, "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER");
  EXPECT_EQ(CanonicalHash(trace),
            "44d48b8c2f70eae815a0198cc73d7a546a73a93359c070abbaa5e6c7de112559");
  EXPECT_EQ(trace.signature, "106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e");
}

TEST(SignerVectors, KeyIsNeitherNormalisedNorEncodedTwice) {
  const SignatureTrace trace = SignWith(
      Make("GET", "/" + http::EncodePath("a b+c/\xc3\xa9//x/../y~(1).txt")), kEmptyPayloadSha256);
  EXPECT_EQ(CanonicalHash(trace),
            "0cf88cad6ebffb06c228d3ce3591bc2e651e6eb321d879cb43009212274058cc");
  EXPECT_EQ(trace.signature, "ba5af72c71e9a840529a1a280092865aedb46eaf4c8fc9f0a169e93c20092de1");
}

TEST(SignerVectors, ListObjectsV2) {
  const std::string query = http::BuildQuery(
      {{"list-type", "2"}, {"prefix", "a/b c"}, {"encoding-type", "url"}, {"delimiter", "/"}});
  const SignatureTrace trace = SignWith(Make("GET", "/?" + query), kEmptyPayloadSha256);
  EXPECT_EQ(CanonicalHash(trace),
            "43da3bc1093681f7dc5e3da4efd7fc428e8fa691642a335800af5ade0cccfd51");
  EXPECT_EQ(trace.signature, "70d9dc82d495dcf7dc36625af9d09ea0d55315f2a18e69c5b45695630ee9cd84");
}

TEST(SignerVectors, PutWithMetadataAndSessionToken) {
  const SignatureTrace trace = SignWith(Make("PUT", "/k", {{"x-amz-meta-a", "  two   spaces  "}}),
                                        PayloadSha256(AsBytes("hello")), Example("TESTTOKEN=="));
  EXPECT_EQ(CanonicalHash(trace),
            "16eff9da51e20ba0eeb03c0bd67a5175522f00eba1e462e69a040f5e47f327ac");
  EXPECT_EQ(trace.signature, "c123eae925854bb5b47005fdd12556f2bc01a3421ffd888b112dee01d27f0c0a");
}

const SigningScope kSession = {"us-east-1", "s3express", TokenKind::kS3Session};
constexpr const char* kExpressHost = "b--use1-az4--x-s3.s3express-use1-az4.us-east-1.amazonaws.com";

TEST(SignerVectors, ExpressGet) {
  const SignatureTrace trace = SignWith(Make("GET", "/k", {{"Host", kExpressHost}}),
                                        kEmptyPayloadSha256, Example("TESTTOKEN=="), kSession);
  EXPECT_EQ(CanonicalHash(trace),
            "884afdb2c8468b7d763938b2c27fc45f382cf255d73199e3cd3d049f009059cb");
  EXPECT_EQ(trace.signature, "cbd53d0eb59571b7c5d67307332c37695aada5bd8210361796770f20a332f8f3");
}

TEST(SignerVectors, SeedOfAnUnsignedTrailerUpload) {
  const SignatureTrace trace = SignWith(Make("PUT", "/k",
                                             {{"Content-Encoding", "aws-chunked"},
                                              {"x-amz-decoded-content-length", "5"},
                                              {"x-amz-trailer", "x-amz-checksum-crc32"}}),
                                        "STREAMING-UNSIGNED-PAYLOAD-TRAILER");
  EXPECT_EQ(CanonicalHash(trace),
            "9a31a048bc7318ac72c1f0f786fc7f9c2b7439ec0c52efaaf4241bcb91db2799");
  EXPECT_EQ(trace.signature, "5cbdd6edef9c840275cfcfea8754e6e9883acf82f83a55e258946e10c6cc4591");
}

TEST(SignerVectors, PresignedGetWithVersionAndToken) {
  const SignatureTrace trace =
      PresignWith(Make("GET", "/k?versionId=abc"), 3600, Example("TESTTOKEN=="));
  EXPECT_EQ(CanonicalHash(trace),
            "e761a83bd5146fe492da81456d862ef6febd34901af974b5e9c6323721a0600f");
  EXPECT_EQ(trace.signature, "f49aa69b54beffaf869a98eb22bdcb95797ce508fbbc239444fe6c86c9d6a3f7");
}

TEST(SignerVectors, ExpressPresignedGet) {
  const SignatureTrace trace = PresignWith(Make("GET", "/k", {{"Host", kExpressHost}}), 300,
                                           Example("TESTTOKEN=="), kSession);
  EXPECT_EQ(CanonicalHash(trace),
            "8f494de4f65abd3968aeac22a64473ee4b678a7a85861613688253654e79e435");
  EXPECT_EQ(trace.signature, "27b0f4d43716498c46d8f390ba000d2de7128eb17f9db42d46b5b71c03c85ddc");
}

TEST(Signer, TheClientsTokenUsesItsOwnHeaderForExpress) {
  http::Request request = Make("GET", "/?session", {{"Host", kExpressHost}});
  ASSERT_TRUE(
      Signer({"us-east-1", "s3express"}).Sign(request, Example("TESTTOKEN=="), {kTime}).ok());
  EXPECT_EQ(http::FindHeader(request.headers, "x-amz-security-token"), "TESTTOKEN==");
  EXPECT_FALSE(http::FindHeader(request.headers, "x-amz-s3session-token"));
}

TEST(Signer, SigningAgainReplacesThePreviousAttempt) {
  const Signer signer({"us-east-1", "s3"});
  http::Request again = Make("GET", "/k");
  ASSERT_TRUE(signer.Sign(again, Example("old"), {kTime + std::chrono::hours(30), "x"}).ok());
  ASSERT_TRUE(signer.Sign(again, Example(), {kTime}).ok());
  http::Request once = Make("GET", "/k");
  ASSERT_TRUE(signer.Sign(once, Example(), {kTime}).ok());
  ASSERT_EQ(again.headers.size(), once.headers.size());
  for (std::size_t i = 0; i < once.headers.size(); ++i) {
    EXPECT_EQ(again.headers[i].name, once.headers[i].name);
    EXPECT_EQ(again.headers[i].value, once.headers[i].value);
  }
}

TEST(Signer, TheCachedKeyFollowsTheDayAndTheSecret) {
  const Signer cached({"us-east-1", "s3"});
  const auto signature = [&](const Signer& signer, const Credentials& credentials, WallTime now) {
    http::Request request = Make("GET", "/k");
    SignatureTrace trace;
    EXPECT_TRUE(signer.Sign(request, credentials, {now}, &trace).ok());
    return trace.signature;
  };
  Credentials other = Example();
  other.secret_access_key = "another";
  for (const WallTime now : {kTime, kTime + std::chrono::hours(24), kTime}) {
    for (const Credentials& credentials : {Example(), other, Example()}) {
      EXPECT_EQ(signature(cached, credentials, now),
                signature(Signer({"us-east-1", "s3"}), credentials, now));
    }
  }
}

TEST(Signer, SeveralThreadsMaySignConcurrently) {
  const Signer signer({"us-east-1", "s3"});
  Credentials other = Example();
  other.secret_access_key = "another";
  std::atomic<int> wrong{0};
  const auto sign = [&](const Credentials& credentials, const std::string& expected) {
    for (int i = 0; i < 200; ++i) {
      http::Request request = Make("GET", "/test.txt", {{"Range", "bytes=0-9"}});
      SignatureTrace trace;
      if (!signer.Sign(request, credentials, {kTime, kEmptyPayloadSha256}, &trace).ok() ||
          trace.signature != expected) {
        ++wrong;
      }
    }
  };
  const std::string other_signature =
      SignWith(Make("GET", "/test.txt", {{"Range", "bytes=0-9"}}), kEmptyPayloadSha256, other)
          .signature;
  {
    std::jthread first([&] {
      sign(Example(), "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    });
    std::jthread second([&] { sign(other, other_signature); });
  }
  EXPECT_EQ(wrong, 0);
}

TEST(Signer, RejectsIncompleteInput) {
  const Signer signer({"us-east-1", "s3"});
  http::Request no_host = Make("GET", "/k");
  no_host.headers.clear();
  EXPECT_EQ(signer.Sign(no_host, Example(), {kTime}).error().kind, ErrorKind::kInvalidArgument);
  http::Request relative = Make("GET", "k");
  EXPECT_EQ(signer.Sign(relative, Example(), {kTime}).error().kind, ErrorKind::kInvalidArgument);
  http::Request good = Make("GET", "/k");
  EXPECT_EQ(signer.Sign(good, {"AKID", "", "", {}}, {kTime}).error().kind,
            ErrorKind::kUnauthenticated);
}

TEST(Signer, PresignedUrlsAreValidForOneSecondToOneWeek) {
  const Signer signer({"us-east-1", "s3"});
  for (const auto& [seconds, good] :
       {std::pair{0, false}, {1, true}, {604'800, true}, {604'801, false}}) {
    http::Request request = Make("GET", "/k");
    EXPECT_EQ(signer.Presign(request, Example(), {kTime, std::chrono::seconds(seconds)}).ok(), good)
        << seconds;
  }
}

}  // namespace
}  // namespace penstock::auth
