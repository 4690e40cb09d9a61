// Four valid requests signed by botocore, each with one change at a time. Every change must cause
// its exact error.
//
// The forms: the Authorization header, a presigned URL, signed chunks, and signed chunks with a
// signed trailer.
#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <stdexcept>

#include "emulator/auth/auth_fixture.h"
#include "emulator/auth/recorded_requests.h"

namespace penstock::emulator::auth {
namespace {

enum Form : std::size_t { kHeaderForm, kPresignedForm, kChunkedForm, kTrailerForm, kFormCount };
constexpr std::array<const char*, kFormCount> kFormNames = {"Header", "Presigned", "Chunked",
                                                            "Trailer"};

// Expands "{a*8192}".
std::string Expand(std::string_view text) {
  std::string out;
  for (std::size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{')) {
    const std::size_t close = text.find('}', open);
    out.append(text.substr(0, open));
    out.append(std::stoul(std::string(text.substr(open + 3, close - open - 3))), text[open + 1]);
    text.remove_prefix(close + 1);
  }
  return out.append(text);
}

TestRequest Recorded(Form form) {
  static constexpr std::array<RecordedRequest, kFormCount> kRecorded = {
      kRecordedHeader, kRecordedPresigned, kRecordedChunked, kRecordedTrailer};
  const RecordedRequest& recorded = kRecorded[form];
  TestRequest request{.method = std::string(recorded.method),
                      .target = std::string(recorded.target),
                      .headers = {},
                      .body = Expand(recorded.body)};
  std::string_view lines = recorded.headers;
  while (!lines.empty()) {
    const std::size_t end = lines.find('\n');
    const std::size_t colon = lines.find(": ");
    request.headers.emplace_back(lines.substr(0, colon), lines.substr(colon + 2, end - colon - 2));
    lines.remove_prefix(end + 1);
  }
  return request;
}

// Replaces the first `from` in `text` by `to`. Fails if there is none: the mutation would test
// nothing.
void Replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at == std::string::npos || from == to)
    throw std::logic_error("nothing to replace: " + std::string(from));
  text.replace(at, from.size(), to);
}

std::string& HeaderOf(TestRequest& request, std::string_view name) {
  std::string* value = request.Header(name);
  if (!value) throw std::logic_error("no header " + std::string(name));
  return *value;
}

bool InQuery(const TestRequest& request) {
  return request.target.find("X-Amz-Signature") != std::string::npos;
}

std::string Encoded(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '/' ? "%2F" : c == ';' ? "%3B" : std::string(1, c);
  return out;
}

// Edits the claim in the header or the query.
void EditClaim(TestRequest& request, std::string_view from, std::string_view to) {
  if (InQuery(request)) return Replace(request.target, Encoded(from), Encoded(to));
  Replace(HeaderOf(request, "Authorization"), from, to);
}

void EditDate(TestRequest& request, std::string_view to) {
  if (InQuery(request))
    return Replace(request.target, "X-Amz-Date=20130524T000000Z", "X-Amz-Date=" + std::string(to));
  HeaderOf(request, "X-Amz-Date") = to;
}

void DropHeader(TestRequest& request, std::string_view name) {
  HeaderOf(request, name);
  std::erase_if(request.headers, [name](const auto& header) { return header.first == name; });
}

// Removes "Credential", "SignedHeaders" or "Signature" with its value.
void DropComponent(TestRequest& request, std::string_view name) {
  std::string& text = InQuery(request) ? request.target : HeaderOf(request, "Authorization");
  const std::string start = (InQuery(request) ? "&X-Amz-" : "") + std::string(name) + "=";
  const std::size_t begin = text.find(start);
  if (begin == std::string::npos) throw std::logic_error("no " + start);
  const std::size_t end = text.find(InQuery(request) ? '&' : ',', begin + 1);
  text.erase(begin, end == std::string::npos ? end : end - begin + (InQuery(request) ? 0 : 2));
}

// Replaces a hex digit by another one.
void Flip(std::string& text, std::size_t at) { text.at(at) = text.at(at) == '0' ? '1' : '0'; }

void FlipAfter(std::string& text, std::string_view mark) {
  const std::size_t at = text.rfind(mark);
  if (at == std::string::npos) throw std::logic_error("no " + std::string(mark));
  Flip(text, at + mark.size());
}

std::string& SignatureHolder(TestRequest& request) {
  return InQuery(request) ? request.target : HeaderOf(request, "Authorization");
}

struct Mutation {
  const char* name;
  void (*apply)(TestRequest& request);
  std::array<const char*, kFormCount> refusals;  // by form; null if the form has no such part
};

constexpr char kMismatch[] = "403 SignatureDoesNotMatch";
constexpr char kMalformed[] = "400 AuthorizationHeaderMalformed";
constexpr char kParameters[] = "400 AuthorizationQueryParametersError";
constexpr char kIncomplete[] = "400 IncompleteBody";
constexpr char kDenied[] = "403 AccessDenied";
constexpr char kArgument[] = "400 InvalidArgument";
constexpr char kTrailerError[] = "400 MalformedTrailerError";

constexpr std::array<const char*, kFormCount> All(const char* refusal) {
  return {refusal, refusal, refusal, refusal};
}
constexpr std::array<const char*, kFormCount> Query(const char* query, const char* others) {
  return {others, query, others, others};
}
constexpr std::array<const char*, kFormCount> Chunks(const char* refusal) {
  return {nullptr, nullptr, refusal, refusal};
}
constexpr std::array<const char*, kFormCount> Trailer(const char* refusal) {
  return {nullptr, nullptr, nullptr, refusal};
}
constexpr auto kScope = Query(kParameters, kMalformed);

const Mutation kOfTheRequest[] = {
    {"AnotherMethod", [](TestRequest& r) { r.method = "POST"; }, All(kMismatch)},
    {"AnotherKey", [](TestRequest& r) { Replace(r.target, "/folder", "/Folder"); }, All(kMismatch)},
    {"AKeyWithTwoSlashes", [](TestRequest& r) { Replace(r.target, "/folder/", "/folder//"); },
     All(kMismatch)},
    {"AKeyEncodedTwice", [](TestRequest& r) { Replace(r.target, "%20", "%2520"); }, All(kMismatch)},
    {"AnotherBucket", [](TestRequest& r) { Replace(HeaderOf(r, "Host"), "example", "Example"); },
     All(kMismatch)},
    {"AnotherPort", [](TestRequest& r) { HeaderOf(r, "Host") += ":8080"; }, All(kMismatch)},
    {"AParameterAdded", [](TestRequest& r) { r.target += "&versionId=abc"; }, All(kMismatch)},
    {"AParameterTwice", [](TestRequest& r) { r.target += "&x-id=PutObject"; }, All(kMismatch)},
    {"AParameterChanged", [](TestRequest& r) { Replace(r.target, "=PutObject", "=GetObject"); },
     All(kMismatch)},
    {"AParameterRemoved", [](TestRequest& r) { Replace(r.target, "x-id=PutObject", ""); },
     All(kMismatch)},
    {"ASignedHeaderChanged", [](TestRequest& r) { HeaderOf(r, "x-amz-meta-color") = "green"; },
     All(kMismatch)},
    {"ASignedHeaderRemoved", [](TestRequest& r) { DropHeader(r, "x-amz-meta-color"); },
     All(kMismatch)},
    {"ASignedHeaderTwice",
     [](TestRequest& r) { r.headers.emplace_back("x-amz-meta-color", "green"); }, All(kMismatch)},
    {"TheContentTypeChanged", [](TestRequest& r) { HeaderOf(r, "Content-Type") = "text/html"; },
     All(kMismatch)},
    {"AnAmzHeaderAdded", [](TestRequest& r) { r.headers.emplace_back("X-Amz-Acl", "public-read"); },
     All(kDenied)},
    {"ATokenAdded", [](TestRequest& r) { r.headers.emplace_back("x-amz-security-token", "T"); },
     Query(kDenied, "400 InvalidToken")},
};

const Mutation kOfTheClaim[] = {
    {"TheSignaturesFirstDigit", [](TestRequest& r) { FlipAfter(SignatureHolder(r), "Signature="); },
     All(kMismatch)},
    {"TheSignaturesLastDigit",
     [](TestRequest& r) { Flip(SignatureHolder(r), SignatureHolder(r).size() - 1); },
     All(kMismatch)},
    {"TheSignatureShortened", [](TestRequest& r) { SignatureHolder(r).pop_back(); },
     All(kMismatch)},
    {"NoSignature", [](TestRequest& r) { DropComponent(r, "Signature"); }, kScope},
    {"NoCredential", [](TestRequest& r) { DropComponent(r, "Credential"); }, kScope},
    {"NoSignedHeaders", [](TestRequest& r) { DropComponent(r, "SignedHeaders"); }, kScope},
    {"AnUnknownKey", [](TestRequest& r) { EditClaim(r, "7EXAMPLE", "8EXAMPLE"); },
     All("403 InvalidAccessKeyId")},
    {"AnotherDay", [](TestRequest& r) { EditClaim(r, "/20130524/", "/20130523/"); }, kScope},
    {"ADayThatIsNone", [](TestRequest& r) { EditClaim(r, "/20130524/", "/2013-05-24/"); }, kScope},
    {"AnotherRegion", [](TestRequest& r) { EditClaim(r, "/us-east-1/", "/us-west-1/"); }, kScope},
    {"AnotherService", [](TestRequest& r) { EditClaim(r, "/s3/", "/sts/"); }, kScope},
    {"AnotherTerminal", [](TestRequest& r) { EditClaim(r, "aws4_request", "aws5_request"); },
     kScope},
    {"ACredentialWithoutARegion", [](TestRequest& r) { EditClaim(r, "/us-east-1/", "/"); }, kScope},
    {"AnotherAlgorithm",
     [](TestRequest& r) { EditClaim(r, "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512"); },
     Query(kParameters, kArgument)},
    {"TheHostNotSigned", [](TestRequest& r) { EditClaim(r, ";host", ""); }, All(kDenied)},
    {"AnAmzHeaderNotSigned", [](TestRequest& r) { EditClaim(r, ";x-amz-meta-color", ""); },
     All(kDenied)},
    {"TheContentTypeNotSigned", [](TestRequest& r) { EditClaim(r, "content-type;", ""); },
     All(kMismatch)},
    {"ASecondLater", [](TestRequest& r) { EditDate(r, "20130524T000001Z"); }, All(kMismatch)},
    {"ADateOfAnotherDay", [](TestRequest& r) { EditDate(r, "20130525T000000Z"); }, kScope},
    {"ADateTooFarAhead", [](TestRequest& r) { EditDate(r, "20130524T001501Z"); },
     Query(kDenied, "403 RequestTimeTooSkewed")},
    {"ADateThatIsNone", [](TestRequest& r) { EditDate(r, "yesterday"); },
     Query(kParameters, kDenied)},
    {"BothMechanisms",
     [](TestRequest& r) {
       if (!InQuery(r)) return r.target.append("&X-Amz-Signature=0"), void();
       r.headers.emplace_back("Authorization", "AWS4-HMAC-SHA256 x");
     },
     All(kArgument)},
};

const Mutation kOfOneMechanism[] = {
    {"NoAuthorization", [](TestRequest& r) { DropHeader(r, "Authorization"); },
     Query(nullptr, kDenied)},
    {"NoDate", [](TestRequest& r) { DropHeader(r, "X-Amz-Date"); }, Query(nullptr, kDenied)},
    {"AnAuthorizationOfOneWord",
     [](TestRequest& r) { HeaderOf(r, "Authorization") = "AWS4-HMAC-SHA256"; },
     Query(nullptr, kArgument)},
    {"AnAuthorizationOfVersionTwo",
     [](TestRequest& r) { HeaderOf(r, "Authorization") = "AWS AKIAIOSFODNN7EXAMPLE:c2ln"; },
     Query(nullptr, kMismatch)},
    {"NoPayloadHash", [](TestRequest& r) { DropHeader(r, "X-Amz-Content-SHA256"); },
     Query(nullptr, "400 InvalidRequest")},
    {"AnotherPayloadHash",
     [](TestRequest& r) { HeaderOf(r, "X-Amz-Content-SHA256") = kEmptySha256; },
     Query(nullptr, kMismatch)},
    {"APayloadNotSigned",
     [](TestRequest& r) { HeaderOf(r, "X-Amz-Content-SHA256") = "UNSIGNED-PAYLOAD"; },
     Query(nullptr, kMismatch)},
    {"APayloadHashThatIsNone", [](TestRequest& r) { HeaderOf(r, "X-Amz-Content-SHA256") = "none"; },
     Query(nullptr, kArgument)},
    {"APayloadHashAdded",
     [](TestRequest& r) { r.headers.emplace_back("x-amz-content-sha256", kEmptySha256); },
     Query(kMismatch, nullptr)},
    {"AnotherExpiry", [](TestRequest& r) { Replace(r.target, "=3600", "=3601"); },
     Query(kMismatch, nullptr)},
    {"AnExpiryOfMoreThanAWeek", [](TestRequest& r) { Replace(r.target, "=3600", "=604801"); },
     Query(kParameters, nullptr)},
    {"AnExpiryOfAWeek", [](TestRequest& r) { Replace(r.target, "=3600", "=604800"); },
     Query(kMismatch, nullptr)},
    {"ANegativeExpiry", [](TestRequest& r) { Replace(r.target, "=3600", "=-3600"); },
     Query(kParameters, nullptr)},
    {"AnExpiryThatIsNone", [](TestRequest& r) { Replace(r.target, "=3600", "=1h"); },
     Query(kParameters, nullptr)},
    {"NoExpiry", [](TestRequest& r) { Replace(r.target, "&X-Amz-Expires=3600", ""); },
     Query(kParameters, nullptr)},
    {"NoDateParameter", [](TestRequest& r) { DropComponent(r, "Date"); },
     Query(kParameters, nullptr)},
    {"NoAlgorithm", [](TestRequest& r) { DropComponent(r, "Algorithm"); },
     Query(kParameters, nullptr)},
};

constexpr char kChunkSignature[] = ";chunk-signature=";

const Mutation kOfTheBody[] = {
    {"AByteOfTheBody",
     [](TestRequest& r) { Replace(r.body, "Welcome", "welcome"); },
     {"400 XAmzContentSHA256Mismatch", nullptr, nullptr, nullptr}},
    {"AByteLess",
     [](TestRequest& r) { r.body.pop_back(); },
     {"400 XAmzContentSHA256Mismatch", nullptr, kIncomplete, kIncomplete}},
    {"AByteMore",
     [](TestRequest& r) { r.body += 'x'; },
     {"400 XAmzContentSHA256Mismatch", nullptr, kIncomplete, kIncomplete}},
    {"AByteOfTheFirstChunk", [](TestRequest& r) { Replace(r.body, "aaaa", "aaba"); },
     Chunks(kMismatch)},
    {"AByteOfTheLastChunk", [](TestRequest& r) { Replace(r.body, "bbbbb", "bbbba"); },
     Chunks(kMismatch)},
    {"ASmallerChunk", [](TestRequest& r) { Replace(r.body, "2000;", "1fff;"); },
     Chunks(kIncomplete)},
    {"ALargerChunk", [](TestRequest& r) { Replace(r.body, "2000;", "2001;"); },
     Chunks(kIncomplete)},
    {"AChunkTooLarge", [](TestRequest& r) { Replace(r.body, "2000;", "20000;"); },
     Chunks(kIncomplete)},
    {"AChunkSizeThatIsNone", [](TestRequest& r) { Replace(r.body, "2000;", "2g00;"); },
     Chunks(kIncomplete)},
    {"AChunksSignature", [](TestRequest& r) { Flip(r.body, r.body.find(kChunkSignature) + 17); },
     Chunks(kMismatch)},
    {"TheLastChunksSignature", [](TestRequest& r) { FlipAfter(r.body, kChunkSignature); },
     Chunks(kMismatch)},
    {"AChunkWithoutASignature",
     [](TestRequest& r) { r.body.erase(r.body.find(kChunkSignature), 17 + 64); },
     Chunks(kIncomplete)},
    {"AChunkLeftOut",
     [](TestRequest& r) { r.body.erase(r.body.find("\r\n5;") + 2, 1 + 17 + 64 + 2 + 5 + 2); },
     Chunks(kMismatch)},
    {"AChunkTwice",
     [](TestRequest& r) {
       r.body.insert(r.body.find("\r\n5;") + 2,
                     r.body.substr(r.body.find("\r\n5;") + 2, 1 + 17 + 64 + 2 + 5 + 2));
     },
     Chunks("400 InvalidChunkSizeError")},
    {"AnotherDecodedLength",
     [](TestRequest& r) { HeaderOf(r, "x-amz-decoded-content-length") = "8196"; },
     Chunks(kMismatch)},
    {"TheContentEncoding", [](TestRequest& r) { HeaderOf(r, "Content-Encoding") = "gzip"; },
     Chunks(kMismatch)},
    {"TheTrailersValue", [](TestRequest& r) { FlipAfter(r.body, "crc32:"); }, Trailer(kMismatch)},
    {"TheTrailersName", [](TestRequest& r) { Replace(r.body, "crc32:", "crc32c:"); },
     Trailer(kTrailerError)},
    {"TheTrailersSignature", [](TestRequest& r) { FlipAfter(r.body, "trailer-signature:"); },
     Trailer(kMismatch)},
    {"NoTrailer", [](TestRequest& r) { Replace(r.body, "x-amz-checksum-crc32:oqZQAQ==\r\n", ""); },
     Trailer(kTrailerError)},
    {"NoTrailerSignature",
     [](TestRequest& r) { r.body.erase(r.body.find("x-amz-trailer-signature:"), 24 + 64 + 2); },
     Trailer(kTrailerError)},
    {"AnotherTrailerAnnounced",
     [](TestRequest& r) { HeaderOf(r, "x-amz-trailer") = "x-amz-checksum-sha1"; },
     Trailer(kMismatch)},
};

struct Case {
  Form form;
  const Mutation* mutation;
};

std::ostream& operator<<(std::ostream& out, const Case& each) {
  return out << kFormNames[each.form] << each.mutation->name;
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  const auto add = [&cases](const auto& mutations) {
    for (const Mutation& mutation : mutations) {
      for (std::size_t form = 0; form < kFormCount; ++form) {
        if (mutation.refusals[form]) cases.push_back({static_cast<Form>(form), &mutation});
      }
    }
  };
  add(kOfTheRequest);
  add(kOfTheClaim);
  add(kOfOneMechanism);
  add(kOfTheBody);
  return cases;
}

// Returns "403 SignatureDoesNotMatch", whether the handler or the body returned it, or "accepted".
std::string Outcome(TestRequest request) {
  const OneUser directory;
  RecordingRouter router;
  const auto auth = AuthChain(ExampleOptions(), directory, router);
  TestExchange test(std::move(request));
  auth->Handle(test.exchange);
  const s3::Response& response = test.exchange.response;
  if (router.calls == 0) return std::to_string(response.status) + " " + response.error_code;
  if (router.body.ok()) return "accepted";
  return std::to_string(router.body.error().http_status) + " " + router.body.error().code;
}

class MutationTest : public testing::TestWithParam<Case> {};

TEST_P(MutationTest, HasItsExactError) {
  const auto& [form, mutation] = GetParam();
  TestRequest request = Recorded(form);
  mutation->apply(request);
  EXPECT_EQ(Outcome(std::move(request)), mutation->refusals[form]);
}

INSTANTIATE_TEST_SUITE_P(Single, MutationTest, testing::ValuesIn(AllCases()), [](const auto& each) {
  return std::string(kFormNames[each.param.form]) + each.param.mutation->name;
});

TEST(RecordedRequestTest, IsAcceptedUnchangedInEveryForm) {
  for (std::size_t form = 0; form < kFormCount; ++form) {
    EXPECT_EQ(Outcome(Recorded(static_cast<Form>(form))), "accepted") << kFormNames[form];
  }
}

TEST(RecordedRequestTest, IsDecodedInEveryFormWithoutASecret) {
  const std::string chunks = std::string(8192, 'a') + "bbbbb";
  for (const Mode mode : {Mode::kParse, Mode::kOff}) {
    for (std::size_t form = 0; form < kFormCount; ++form) {
      OneUser directory;
      directory.user.secret_access_key = "another";
      RecordingRouter router;
      AuthOptions options = ExampleOptions();
      options.mode = mode;
      const auto auth = AuthChain(options, directory, router);
      TestExchange test(Recorded(static_cast<Form>(form)));
      auth->Handle(test.exchange);
      ASSERT_EQ(router.calls, 1) << kFormNames[form];
      ASSERT_TRUE(router.body.ok()) << kFormNames[form];
      EXPECT_EQ(*router.body, form < kChunkedForm ? "Welcome to Amazon S3." : chunks)
          << kFormNames[form];
      EXPECT_EQ(router.trailers.size(), form == kTrailerForm ? 1u : 0u) << kFormNames[form];
      EXPECT_EQ(test.exchange.signing_region, "us-east-1") << kFormNames[form];
    }
  }
}

TEST(RecordedRequestTest, HasAtLeastTwentyMutationsInEveryForm) {
  std::array<int, kFormCount> counts{};
  for (const Case& each : AllCases()) ++counts[each.form];
  for (std::size_t form = 0; form < kFormCount; ++form)
    EXPECT_GE(counts[form], 40) << kFormNames[form];
}

}  // namespace
}  // namespace penstock::emulator::auth
