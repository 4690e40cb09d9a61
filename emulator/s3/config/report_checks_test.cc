#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Refused;

using ReportChecksTest = ConfigurationTest;

TEST_F(ReportChecksTest, FiltersHaveOneCriterion) {
  const Refused cases[] = {
      {"<MetricsConfiguration><Id>x</Id><Filter/></MetricsConfiguration>", "400 MalformedXML", ""},
      {"<MetricsConfiguration><Id>x</Id><Filter><Prefix>p</Prefix><Tag><Key>k</Key><Value/></Tag></"
       "Filter>"
       "</MetricsConfiguration>",
       "400 MalformedXML", ""},
      {"<MetricsConfiguration><Id>x</Id><Filter><And><Prefix>p</Prefix></And></Filter></"
       "MetricsConfiguration>",
       "400 MalformedXML", ""}};
  ExpectRefused("metrics&id=x", cases);
}

TEST_F(ReportChecksTest, DestinationsMustBeBucketArns) {
  const Refused analytics[] = {
      {"<AnalyticsConfiguration><Id>x</Id></AnalyticsConfiguration>", "400 MalformedXML", ""},
      {"<AnalyticsConfiguration><Id>x</"
       "Id><StorageClassAnalysis><DataExport><OutputSchemaVersion>V_1</OutputSchemaVersion>"
       "<Destination><S3BucketDestination><Format>CSV</Format><Bucket>out</Bucket></"
       "S3BucketDestination></Destination>"
       "</DataExport></StorageClassAnalysis></AnalyticsConfiguration>",
       "400 InvalidS3DestinationBucket", "Invalid bucket ARN."}};
  ExpectRefused("analytics&id=x", analytics);
  const std::string head = "<InventoryConfiguration><Destination><S3BucketDestination><Bucket>";
  const std::string tail =
      "</S3BucketDestination></Destination><IsEnabled>true</IsEnabled><Id>x</"
      "Id><IncludedObjectVersions>All"
      "</IncludedObjectVersions><Schedule><Frequency>Daily</Frequency></Schedule></"
      "InventoryConfiguration>";
  EXPECT_EQ(Put("inventory&id=x", head + "out</Bucket><Format>CSV</Format>" + tail).Outcome(),
            "400 InvalidS3DestinationBucket");
  EXPECT_EQ(Put("inventory&id=x", head + "arn:aws:s3:::out</Bucket><Format>csv</Format>" + tail)
                .Outcome(),
            "400 MalformedXML");
  EXPECT_EQ(Put("inventory&id=x",
                head + "arn:aws:s3:::out</Bucket><Format>CSV</Format><Encryption/>" + tail)
                .Outcome(),
            "400 MalformedXML");
  EXPECT_EQ(Put("inventory&id=x", head + "arn:aws:s3:::out</Bucket><Format>CSV</Format>" + tail)
                .Outcome(),
            "204");
}

// PutBucketInventoryConfiguration and PutBucketAnalyticsConfiguration: the destination bucket must
// be in the same region.
TEST_F(ReportChecksTest, DestinationsAreInTheRegionOfTheBucket) {
  store::BucketRecord far;
  far.name = BucketName("far-away");
  far.owner_id = s3_.identity().owner_id;
  far.region = "EU";
  ASSERT_TRUE(s3_.store().CreateBucket(far).ok());
  const auto inventory = [&](std::string_view bucket) {
    return Put("inventory&id=x",
               "<InventoryConfiguration><Destination><S3BucketDestination><Bucket>arn:aws:s3:::" +
                   std::string(bucket) +
                   "</Bucket><Format>CSV</Format></S3BucketDestination></Destination>"
                   "<IsEnabled>true</IsEnabled><Id>x</Id>"
                   "<IncludedObjectVersions>All</IncludedObjectVersions>"
                   "<Schedule><Frequency>Daily</Frequency></Schedule></InventoryConfiguration>")
        .Outcome();
  };
  EXPECT_EQ(inventory("far-away"), "400 InvalidS3DestinationBucket");
  EXPECT_EQ(inventory("bucket"), "204");
}

TEST_F(ReportChecksTest, TiersHaveLimitsAndMustBeUnique) {
  const auto tiering = [](std::string_view tiers) {
    return "<IntelligentTieringConfiguration><Id>x</Id><Status>Enabled</Status>" +
           std::string(tiers) + "</IntelligentTieringConfiguration>";
  };
  const auto tier = [](std::string_view days, std::string_view access) {
    return "<Tiering><Days>" + std::string(days) + "</Days><AccessTier>" + std::string(access) +
           "</AccessTier></Tiering>";
  };
  EXPECT_EQ(Put("intelligent-tiering&id=x", tiering("")).Outcome(), "400 MalformedXML");
  EXPECT_EQ(Put("intelligent-tiering&id=x", tiering(tier("89", "ARCHIVE_ACCESS"))).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Put("intelligent-tiering&id=x", tiering(tier("179", "DEEP_ARCHIVE_ACCESS"))).Outcome(),
            "400 InvalidArgument");
  EXPECT_EQ(Put("intelligent-tiering&id=x", tiering(tier("731", "DEEP_ARCHIVE_ACCESS"))).Outcome(),
            "400 InvalidArgument");
  const std::string twice = tier("90", "ARCHIVE_ACCESS") + tier("91", "ARCHIVE_ACCESS");
  EXPECT_EQ(Put("intelligent-tiering&id=x", tiering(twice)).Outcome(), "400 MalformedXML");
}

}  // namespace
}  // namespace penstock::emulator::s3
