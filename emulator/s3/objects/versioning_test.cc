#include "emulator/s3/config/configuration_fixture.h"

namespace penstock::emulator::s3 {
namespace {

using testing::ConfigurationTest;
using testing::Refused;
using testing::Reply;

using VersioningTest = ConfigurationTest;

TEST_F(VersioningTest, StatusIsStored) {
  EXPECT_EQ(s3_.SetVersioning("bucket", "Enabled").Outcome(), "200");
  EXPECT_EQ(Get("versioning").Element("Status"), "Enabled");
  EXPECT_EQ(s3_.SetVersioning("bucket", "Suspended").Outcome(), "200");
  EXPECT_EQ(Get("versioning").Element("Status"), "Suspended");
}

TEST_F(VersioningTest, RefusesInvalidStates) {
  const Refused cases[] = {
      {"<VersioningConfiguration><Status>enabled</Status></VersioningConfiguration>",
       "400 MalformedXML", ""},
      {"<VersioningConfiguration><State/></VersioningConfiguration>", "400 MalformedXML", ""},
      {"<VersioningConfiguration/>", "400 IllegalVersioningConfigurationException",
       "The Versioning element must be specified"},
      {"", "400 MissingRequestBodyError", "Request Body is empty"}};
  ExpectRefused("versioning", cases);
  EXPECT_EQ(s3_.Send("PUT /bucket?versioning", "<VersioningConfiguration/>").Outcome(),
            "400 InvalidRequest")
      << "missing checksum";
}

TEST_F(VersioningTest, MfaDeleteCannotBeEnabled) {
  // Regression: the request returned 200 without enabling MFA Delete.
  const std::string enable =
      "<VersioningConfiguration><MfaDelete>Enabled</MfaDelete><Status>Enabled</Status></"
      "VersioningConfiguration>";
  const Reply refused = Put("versioning", enable);
  EXPECT_EQ(refused.Outcome(), "403 AccessDenied");
  EXPECT_EQ(refused.Element("Message"), "Mfa Authentication must be used for this request");
  EXPECT_EQ(Get("versioning").Element("Status"), "<absent>") << "versioning must not change";
  EXPECT_EQ(Put("versioning",
                "<VersioningConfiguration><MfaDelete>Disabled</MfaDelete><Status>Enabled</Status></"
                "VersioningConfiguration>")
                .Outcome(),
            "200");
  EXPECT_EQ(Get("versioning").Element("MfaDelete"), "<absent>");
  EXPECT_EQ(s3_.Send("DELETE /bucket/k\nx-amz-mfa: 20899872 301749").Outcome(), "204")
      << "the MFA code is ignored";
}

TEST_F(VersioningTest, ObjectLockPreventsSuspension) {
  s3_.Send("PUT /locked\nx-amz-bucket-object-lock-enabled: true");
  const Reply reply = s3_.SetVersioning("locked", "Suspended");
  EXPECT_EQ(reply.Outcome(), "409 InvalidBucketState");
  EXPECT_EQ(reply.Element("Message"),
            "An Object Lock configuration is present on this bucket, so the versioning state "
            "cannot be changed.");
  EXPECT_EQ(s3_.SetVersioning("locked", "Enabled").Outcome(), "200");
}

}  // namespace
}  // namespace penstock::emulator::s3
