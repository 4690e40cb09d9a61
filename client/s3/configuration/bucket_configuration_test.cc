// Configurations of buckets. Paths, parameters and documents of the tests named ...AsBotocore are
// those that botocore 1.44.8 sends for the same input.
#include <gtest/gtest.h>

#include <set>

#include "client/s3/configuration/configuration.h"
#include "client/s3/verbs/wire_for_test.h"

namespace penstock::s3 {
namespace {

using Kind = BucketConfigurationKind;
const BucketName kBucket("b");

std::string FirstLine(const Result<WireRequest>& wire) {
  const std::string text = Golden(wire);
  return text.substr(0, text.find('\n'));
}

TEST(BucketConfigurationTest, AddressesSubResourcesAsBotocore) {
  const auto get = [](Kind kind, std::string id = {}) {
    return FirstLine(
        BuildRequest(GetBucketConfigurationRequest{kBucket, kind, std::move(id), {}}, Context()));
  };
  EXPECT_EQ(get(Kind::kLocation), "GET /b?location=");
  EXPECT_EQ(get(Kind::kLifecycle), "GET /b?lifecycle=");
  EXPECT_EQ(get(Kind::kPublicAccessBlock), "GET /b?publicAccessBlock=");
  EXPECT_EQ(get(Kind::kInventory, "i 1"), "GET /b?inventory=&id=i%201");
  const auto remove = [](Kind kind) {
    return FirstLine(
        BuildRequest(DeleteBucketConfigurationRequest{kBucket, kind, {}, {}}, Context()));
  };
  EXPECT_EQ(remove(Kind::kPublicAccessBlock), "DELETE /b?publicAccessBlock=");
  EXPECT_EQ(remove(Kind::kLifecycle), "DELETE /b?lifecycle=");
}

TEST(BucketConfigurationTest, ErrorsHaveTheNameOfTheOperation) {
  const auto name = [](Kind kind) {
    return BuildRequest(DeleteBucketConfigurationRequest{kBucket, kind, {}, {}}, Context())
        ->operation_name;
  };
  EXPECT_EQ(name(Kind::kLifecycle), "DeleteBucketLifecycle");
  EXPECT_EQ(name(Kind::kTagging), "DeleteBucketTagging");
}

TEST(BucketConfigurationTest, EveryKindHasItsOwnParameter) {
  std::set<std::string> parameters;
  for (int i = 0; i <= static_cast<int>(Kind::kWebsite); ++i) {
    for (const char* id : {"", "id"}) {
      const GetBucketConfigurationRequest request{kBucket, static_cast<Kind>(i), id, {}};
      const auto wire = BuildRequest(request, Context());
      if (wire.ok()) parameters.insert(wire->query.front().first);
    }
  }
  EXPECT_EQ(parameters.size(), static_cast<std::size_t>(Kind::kWebsite) + 1);
}

TEST(BucketConfigurationTest, SendsDocumentsUnchangedWithTheDigestThatS3Requires) {
  PutBucketConfigurationRequest request{
      kBucket, Kind::kPolicy, "{\"Version\":\"2012-10-17\"}", {}, {}};
  EXPECT_EQ(HeadersOf(BuildRequest(request, WithoutChecksums()).value()),
            (std::map<std::string, std::string>{{"content-type", "application/json"},
                                                {"content-md5", "i+2NaoBX/LfBm+dRQClEiw=="}}));
  const auto wire = BuildRequest(request, Context());
  EXPECT_EQ(wire->document, request.document);
  EXPECT_EQ(wire->operation_name, "PutBucketPolicy");
  EXPECT_NE(wire->FindHeader("x-amz-checksum-crc64nvme"), nullptr);
  // The service model requires no digest here.
  request.kind = Kind::kNotification;
  request.document = "<NotificationConfiguration/>";
  EXPECT_EQ(HeadersOf(BuildRequest(request, Context()).value()),
            (std::map<std::string, std::string>{{"content-type", "application/xml"}}));
}

TEST(BucketConfigurationTest, RefusesWhatS3Lacks) {
  EXPECT_EQ(Golden(BuildRequest(
                DeleteBucketConfigurationRequest{kBucket, Kind::kVersioning, {}, {}}, Context())),
            "error: S3 cannot delete the configuration `versioning` of a bucket");
  EXPECT_EQ(
      Golden(BuildRequest(PutBucketConfigurationRequest{kBucket, Kind::kLocation, "<x/>", {}, {}},
                          Context())),
      "error: S3 cannot set the configuration `location` of a bucket");
  EXPECT_EQ(Golden(BuildRequest(GetBucketConfigurationRequest{kBucket, Kind::kMetrics, {}, {}},
                                Context())),
            "error: the configuration `metrics` of a bucket needs an id; set it");
  EXPECT_EQ(
      Golden(BuildRequest(GetBucketConfigurationRequest{kBucket, Kind::kCors, "i", {}}, Context())),
      "error: the configuration `cors` of a bucket has no id; leave it empty");
  EXPECT_FALSE(
      BuildRequest(PutBucketConfigurationRequest{kBucket, Kind::kCors, "", {}, {}}, Context())
          .ok());
}

TEST(BucketConfigurationTest, ReturnsTheDocumentAsReceived) {
  GetBucketConfigurationRequest request{kBucket, Kind::kPolicy, {}, {}};
  EXPECT_EQ(ParseResponse(request, ResponseOf("{\"a\": 1}\n"))->document, "{\"a\": 1}\n");
  request.kind = Kind::kLifecycle;
  const std::string document = "<LifecycleConfiguration><Rule/></LifecycleConfiguration>";
  EXPECT_EQ(ParseResponse(request, ResponseOf(document))->document, document);
}

TEST(BucketConfigurationTest, AnIncompleteConfigurationIsAnError) {
  GetBucketConfigurationRequest request{kBucket, Kind::kPolicy, {}, {}};
  for (const char* const policy : {"", "{\"a\": 1", "{\"a\": 1}x", "<Policy/>", "\xff\xfe{\0}"}) {
    const auto parsed = ParseResponse(request, ResponseOf(policy));
    ASSERT_FALSE(parsed.ok()) << policy;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUnavailable) << policy;
  }
  request.kind = Kind::kLifecycle;
  for (const char* const document : {"", "<LifecycleConfiguration><Rule><ID>r", "<Lifecycle/>x"}) {
    const auto parsed = ParseResponse(request, ResponseOf(document));
    ASSERT_FALSE(parsed.ok()) << document;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUnavailable) << document;
  }
  // A service that does not know the sub-resource lists the bucket.
  EXPECT_EQ(ParseResponse(request, ResponseOf("<ListBucketResult/>")).error().kind,
            ErrorKind::kUnsupported);
}

TEST(BucketConfigurationTest, SettingAPolicyMayReturnText) {
  PutBucketConfigurationRequest request{kBucket, Kind::kPolicy, "{}", {}, {}};
  EXPECT_TRUE(ParseResponse(request, ResponseOf("{}")).ok());
  EXPECT_TRUE(ParseResponse(request, ResponseOf("", {}, 204)).ok());
  EXPECT_TRUE(ParseResponse(request, ResponseOf("True")).ok());
  EXPECT_FALSE(ParseResponse(request, ResponseOf("Please log in")).ok());
  EXPECT_FALSE(ParseResponse(request, ResponseOf("{\"other\": 1}")).ok());
  EXPECT_FALSE(ParseResponse(request, ResponseOf("<html><body>hello</body></html>")).ok());
  EXPECT_EQ(ParseResponse(request, ResponseOf("<Error><Code>SlowDown</Code></Error>")).error().code,
            "SlowDown");
  request.kind = Kind::kCors;
  EXPECT_FALSE(ParseResponse(request, ResponseOf("{}")).ok());
}

TEST(BucketConfigurationTest, AnErrorOrAPageIsNoConfiguration) {
  for (const Kind kind : {Kind::kPolicy, Kind::kLifecycle}) {
    const GetBucketConfigurationRequest request{kBucket, kind, {}, {}};
    EXPECT_EQ(
        ParseResponse(request, ResponseOf("<Error><Code>SlowDown</Code></Error>")).error().code,
        "SlowDown");
    EXPECT_EQ(ParseResponse(request, ResponseOf("<html><body>hello</body></html>")).error().kind,
              ErrorKind::kUnsupported);
  }
}

TEST(BucketVersioningTest, SendsTheStatusAsBotocore) {
  const auto wire =
      BuildRequest(PutBucketVersioningRequest{kBucket, BucketVersioning::kEnabled, {}}, Context());
  EXPECT_EQ(FirstLine(wire), "PUT /b?versioning=");
  EXPECT_EQ(wire->document,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<VersioningConfiguration "
            "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Status>Enabled</Status>"
            "</VersioningConfiguration>");
  EXPECT_FALSE(
      BuildRequest(PutBucketVersioningRequest{kBucket, BucketVersioning::kNever, {}}, Context())
          .ok());
}

// The documents of "GetBucketVersioning" in the Amazon S3 API Reference.
TEST(BucketVersioningTest, ReadsTheStatus) {
  const GetBucketVersioningRequest request{kBucket, {}};
  const std::string start =
      "<VersioningConfiguration xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  const auto read = [&](const std::string& text) {
    return ParseResponse(request, ResponseOf(start + text + "</VersioningConfiguration>"));
  };
  EXPECT_EQ(read("")->status, BucketVersioning::kNever);
  EXPECT_EQ(read("<Status>Suspended</Status>")->status, BucketVersioning::kSuspended);
  const auto enabled = read("<Status>Enabled</Status><MfaDelete>Enabled</MfaDelete>");
  EXPECT_EQ(enabled->status, BucketVersioning::kEnabled);
  EXPECT_TRUE(enabled->mfa_delete);
}

TEST(BucketTaggingTest, SendsTagsAsBotocoreAndReadsThem) {
  const auto wire = BuildRequest(PutBucketTaggingRequest{kBucket, {{"a", "<b>"}}, {}}, Context());
  EXPECT_EQ(FirstLine(wire), "PUT /b?tagging=");
  EXPECT_EQ(wire->document,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Tagging "
            "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><TagSet><Tag><Key>a</Key><Value>"
            "&lt;b&gt;</Value></Tag></TagSet></Tagging>");
  const auto read = ParseResponse(GetBucketTaggingRequest{kBucket, {}}, ResponseOf(wire->document));
  EXPECT_EQ(read->tags, (std::vector<Tag>{{"a", "<b>"}}));
}

}  // namespace
}  // namespace penstock::s3
