#include "client/s3/config/config.h"

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <string>

#include <gtest/gtest.h>

namespace penstock::s3 {
namespace {

using Variables = std::map<std::string, std::string>;

auth::Environment Outside(Variables variables, std::string config_file = "") {
  variables.emplace("AWS_CONFIG_FILE", "config");
  variables.emplace("AWS_SHARED_CREDENTIALS_FILE", "credentials");
  return {[variables](const std::string& name) -> std::optional<std::string> {
            const auto found = variables.find(name);
            if (found == variables.end()) return std::nullopt;
            return found->second;
          },
          [config_file](const std::string& path) -> Result<std::string> {
            if (path == "config" && !config_file.empty()) return config_file;
            return Error::Make(ErrorKind::kNotFound, path);
          }};
}

Result<ResolvedConfig> Resolve(ClientConfig config, Variables variables = {},
                               std::string config_file = "") {
  return ResolveConfig(std::move(config), Outside(std::move(variables), std::move(config_file)));
}

std::string Failure(ClientConfig config, Variables variables = {}) {
  const auto resolved = Resolve(std::move(config), std::move(variables));
  if (resolved.ok()) return "(accepted)";
  EXPECT_EQ(resolved.error().kind, ErrorKind::kInvalidArgument);
  return resolved.error().message;
}

TEST(ConfigTest, RegionPrecedenceIsCodeEnvironmentProfile) {
  const std::string file = "[default]\nregion = r-profile\n";
  EXPECT_EQ(Resolve({.region = "r-code"}, {{"AWS_REGION", "r-env"}}, file)->client.region,
            "r-code");
  EXPECT_EQ(Resolve({}, {{"AWS_REGION", "r-env"}, {"AWS_DEFAULT_REGION", "r-default"}}, file)
                ->client.region,
            "r-env");
  EXPECT_EQ(Resolve({}, {{"AWS_DEFAULT_REGION", "r-default"}}, file)->client.region, "r-default");
  EXPECT_EQ(Resolve({}, {}, file)->client.region, "r-profile");
}

TEST(ConfigTest, WithoutARegionOnlyACustomEndpointWorks) {
  EXPECT_EQ(Resolve({.endpoint_url = "http://h"})->client.region, "us-east-1");
  EXPECT_EQ(Failure({}).find("A region must be set when sending requests to S3."), 0u);
}

TEST(ConfigTest, TheMostSpecificEndpointSettingApplies) {
  const std::string file =
      "[default]\nregion = r\nendpoint_url = http://profile\nservices = mine\n[services mine]\ns3 "
      "=\n"
      "  endpoint_url = http://service\n";
  const Variables both = {{"AWS_ENDPOINT_URL_S3", "http://s3-env"},
                          {"AWS_ENDPOINT_URL", "http://env"}};
  EXPECT_EQ(Resolve({.endpoint_url = "http://code"}, both, file)->endpoint->host, "code");
  EXPECT_EQ(Resolve({}, both, file)->endpoint->host, "s3-env");
  EXPECT_EQ(Resolve({}, {{"AWS_ENDPOINT_URL", "http://env"}}, file)->endpoint->host, "env");
  EXPECT_EQ(Resolve({}, {}, file)->endpoint->host, "service");
  EXPECT_EQ(
      Resolve({}, {}, "[default]\nregion = r\nendpoint_url = http://profile\n")->endpoint->host,
      "profile");
}

TEST(ConfigTest, ConfiguredEndpointsCanBeIgnored) {
  const Variables variables = {{"AWS_ENDPOINT_URL", "http://env"},
                               {"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "true"}};
  EXPECT_FALSE(Resolve({.region = "r"}, variables)->endpoint);
  EXPECT_TRUE(Resolve({.region = "r", .endpoint_url = "http://code"}, variables)->endpoint);
}

TEST(ConfigTest, MaxAttemptsPrecedenceIsCodeEnvironmentProfileDefault) {
  const std::string file = "[default]\nmax_attempts = 4\n";
  const Variables variables = {{"AWS_MAX_ATTEMPTS", "7"}};
  EXPECT_EQ(Resolve({.region = "r", .max_attempts = 3}, variables, file)->max_attempts, 3);
  EXPECT_EQ(Resolve({.region = "r", .max_attempts = 10}, variables, file)->max_attempts, 10);
  EXPECT_EQ(Resolve({.region = "r"}, variables, file)->max_attempts, 7);
  EXPECT_EQ(Resolve({.region = "r"}, {}, file)->max_attempts, 4);
  EXPECT_EQ(Resolve({.region = "r"})->max_attempts, 10);
  EXPECT_EQ(Resolve({.region = "r"})->client.max_attempts, 10);
}

TEST(ConfigTest, InvalidNumbersNameValueLimitAndOrigin) {
  EXPECT_EQ(Failure({.region = "r", .max_attempts = 0}),
            "max_attempts must be 1 to 64 (1 means no retries), not 0");
  EXPECT_EQ(Failure({.region = "r", .max_attempts = 65}),
            "max_attempts must be 1 to 64 (1 means no retries), not 65");
  EXPECT_EQ(Failure({.region = "r"}, {{"AWS_MAX_ATTEMPTS", "many"}}),
            "AWS_MAX_ATTEMPTS must be 1 to 64, not `many`");
  EXPECT_EQ(Failure({.region = "r", .idle_timeout = std::chrono::milliseconds(0)}),
            "idle_timeout must be 1 to 1000000000000 ms (31 years), not 0 ms");
  EXPECT_EQ(Failure({.region = "r", .operation_timeout = std::chrono::milliseconds::max()}),
            "operation_timeout must be 0 (no limit) to 1000000000000 ms (31 years), not "
            "9223372036854775807 ms");
  EXPECT_EQ(Failure({.region = "r", .io_threads = 0}), "io_threads must be 1 to 64, not 0");
  EXPECT_EQ(Failure({.region = "r", .io_threads = 65}), "io_threads must be 1 to 64, not 65");
  EXPECT_TRUE(Resolve({.region = "r", .io_threads = 64}).ok());
  EXPECT_EQ(Failure({.region = "r", .max_connections = 0}),
            "max_connections must be 1 to 4096, not 0");
  EXPECT_EQ(Failure({.region = "r", .max_bytes_per_second = 65'535}),
            "max_bytes_per_second must be at least 65536, not 65535");
  EXPECT_TRUE(
      Resolve({.region = "r", .max_connections = 4096, .max_bytes_per_second = 65'536}).ok());
}

TEST(ConfigTest, RejectsMutuallyExclusiveSettings) {
  EXPECT_EQ(Failure({.region = "r", .client_key_path = "key.pem"}),
            "client_key_path and client_key_password require client_certificate_path");
  EXPECT_EQ(Failure({.region = "r", .signing = Signing::kUnsigned, .requester_pays = true})
                .find("requester_pays requires authenticated requests and cannot be combined with "
                      "unsigned"),
            0u);
  EXPECT_EQ(
      Failure({.region = "r", .endpoint_url = "http://h"}, {{"AWS_USE_FIPS_ENDPOINT", "true"}}),
      "A custom endpoint cannot be combined with FIPS");
  EXPECT_EQ(Failure({.region = "r", .endpoint_url = "http://h"},
                    {{"AWS_USE_DUALSTACK_ENDPOINT", "true"}}),
            "Cannot set dual-stack in combination with a custom endpoint.");
}

TEST(ConfigTest, FlagsAreTrueOrFalse) {
  EXPECT_TRUE(Resolve({.region = "us-west-2"}, {{"AWS_USE_FIPS_ENDPOINT", "TRUE"}})->fips);
  EXPECT_TRUE(Resolve({.region = "us-west-2"}, {}, "[default]\nuse_dualstack_endpoint = true\n")
                  ->dualstack);
  EXPECT_EQ(Failure({.region = "r"}, {{"AWS_USE_FIPS_ENDPOINT", "1"}}),
            "AWS_USE_FIPS_ENDPOINT must be true or false, not `1`");
}

TEST(ConfigTest, EndpointFlagPrecedenceIsCodeEnvironmentProfile) {
  const std::string file =
      "[default]\nregion = r\ns3_disable_express_session_auth = true\ns3_use_arn_region = false\n"
      "s3_disable_multiregion_access_points = true\ns3 =\n  use_accelerate_endpoint = true\n"
      "  use_dualstack_endpoint = true\n";
  const auto of_file = Resolve({}, {}, file);
  ASSERT_TRUE(of_file.ok()) << of_file.error().message;
  EXPECT_FALSE(of_file->express_sessions);
  EXPECT_FALSE(of_file->use_arn_region);
  EXPECT_FALSE(of_file->multi_region_access_points);
  EXPECT_TRUE(of_file->accelerate);
  EXPECT_TRUE(of_file->dualstack);
  EXPECT_TRUE(
      Resolve({}, {{"AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "False"}}, file)->express_sessions);
  EXPECT_TRUE(Resolve({.region = "r", .disable_s3_express_session_auth = false},
                      {{"AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "true"}})
                  ->express_sessions);
  EXPECT_TRUE(Resolve({.use_arn_region = true}, {}, file)->use_arn_region);
  const auto unset = Resolve({.region = "r"});
  EXPECT_TRUE(unset->express_sessions && unset->use_arn_region &&
              unset->multi_region_access_points && !unset->accelerate);
}

TEST(ConfigTest, DisablingSessionsRequiresTrueOrFalse) {
  EXPECT_EQ(Failure({.region = "r"}, {{"AWS_S3_DISABLE_EXPRESS_SESSION_AUTH", "yes"}}),
            "AWS_S3_DISABLE_EXPRESS_SESSION_AUTH must be true or false, not `yes`");
}

TEST(ConfigTest, AccelerateAppliesToObjectsOnly) {
  const auto config = Resolve({.region = "us-west-2", .use_accelerate_endpoint = true});
  EXPECT_EQ(ResolveEndpoint(config->EndpointFor("bucket", "us-west-2"))->authority,
            "bucket.s3-accelerate.amazonaws.com");
  EXPECT_EQ(ResolveEndpoint(config->EndpointFor("bucket", "us-west-2", {.never_accelerated = true}))
                ->authority,
            "bucket.s3.us-west-2.amazonaws.com");
  EXPECT_EQ(Failure({.region = "r", .endpoint_url = "http://h", .use_accelerate_endpoint = true}),
            "A custom endpoint cannot be combined with S3 Accelerate");
}

TEST(ConfigTest, LegacyUsEast1UsesTheGlobalHost) {
  const auto legacy =
      Resolve({.region = "us-east-1"}, {{"AWS_S3_US_EAST_1_REGIONAL_ENDPOINT", "legacy"}});
  ASSERT_TRUE(legacy.ok());
  EXPECT_EQ(ResolveEndpoint(legacy->EndpointFor("bucket", "us-east-1"))->authority,
            "bucket.s3.amazonaws.com");
  EXPECT_FALSE(Resolve({.region = "us-east-1"})->global_us_east_1);
  EXPECT_EQ(Failure({.region = "r"}, {{"AWS_S3_US_EAST_1_REGIONAL_ENDPOINT", "old"}}),
            "AWS_S3_US_EAST_1_REGIONAL_ENDPOINT must be legacy or regional, not `old`");
}

TEST(ConfigTest, ChecksumsCanBeDisabled) {
  EXPECT_TRUE(Resolve({.region = "r"})->upload_checksums);
  EXPECT_TRUE(Resolve({.region = "r"})->verify_downloads);
  const Variables off = {{"AWS_REQUEST_CHECKSUM_CALCULATION", "when_required"},
                         {"AWS_RESPONSE_CHECKSUM_VALIDATION", "WHEN_REQUIRED"}};
  EXPECT_FALSE(Resolve({.region = "r"}, off)->upload_checksums);
  EXPECT_FALSE(Resolve({.region = "r"}, off)->verify_downloads);
  EXPECT_TRUE(Resolve({.region = "r", .upload_checksums = ChecksumPolicy::kWhenSupported}, off)
                  ->upload_checksums);
  EXPECT_FALSE(Resolve({.region = "r", .download_checksums = ChecksumPolicy::kWhenRequired})
                   ->verify_downloads);
  EXPECT_NE(Failure({.region = "r"}, {{"AWS_REQUEST_CHECKSUM_CALCULATION", "never"}})
                .find("must be when_supported"),
            std::string::npos);
}

TEST(ConfigTest, ProfileAddressingAppliesIfCodeDoesNotSetIt) {
  const std::string file = "[default]\nregion = r\ns3 =\n  addressing_style = path\n";
  EXPECT_EQ(Resolve({}, {}, file)->client.addressing_style, AddressingStyle::kPath);
  EXPECT_EQ(
      Resolve({.addressing_style = AddressingStyle::kVirtual}, {}, file)->client.addressing_style,
      AddressingStyle::kVirtual);
}

TEST(ConfigTest, TheVariableOfTheAddressingStylePrecedesTheProfile) {
  const std::string file = "[default]\nregion = r\ns3 =\n  addressing_style = path\n";
  const auto style = [&](const std::string& value, AddressingStyle given = AddressingStyle::kAuto) {
    return Resolve({.addressing_style = given}, {{"PENSTOCK_ADDRESSING_STYLE", value}}, file)
        ->client.addressing_style;
  };
  EXPECT_EQ(style("virtual"), AddressingStyle::kVirtual);
  EXPECT_EQ(style("Auto"), AddressingStyle::kAuto);
  EXPECT_EQ(style(""), AddressingStyle::kPath);
  EXPECT_EQ(style("virtual", AddressingStyle::kPath), AddressingStyle::kPath);
  EXPECT_EQ(Failure({.region = "r"}, {{"PENSTOCK_ADDRESSING_STYLE", "host"}}),
            "PENSTOCK_ADDRESSING_STYLE must be auto, virtual or path, not `host`");
}

TEST(ConfigTest, CaBundleComesFromTheEnvironmentOrTheProfile) {
  EXPECT_EQ(Resolve({.region = "r"}, {{"AWS_CA_BUNDLE", "env.pem"}})->client.ca_bundle_path,
            "env.pem");
  EXPECT_EQ(
      Resolve({.region = "r"}, {}, "[default]\nca_bundle = file.pem\n")->client.ca_bundle_path,
      "file.pem");
  EXPECT_EQ(Resolve({.region = "r", .ca_bundle_path = "code.pem"}, {{"AWS_CA_BUNDLE", "env.pem"}})
                ->client.ca_bundle_path,
            "code.pem");
}

TEST(ConfigTest, AFileOfTlsThatIsAFifoIsRefused) {
  std::string folder = ::testing::TempDir() + "penstock_ca_XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/ca.pem";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_NE(Failure({.region = "r"}, {{"AWS_CA_BUNDLE", path}})
                .find("AWS_CA_BUNDLE is '" + path + "', a FIFO"),
            std::string::npos);
  EXPECT_EQ(Failure({.region = "r", .client_certificate_path = path}),
            "client_certificate_path is '" + path + "', a FIFO; give a regular file");
  EXPECT_EQ(Failure({.region = "r", .client_certificate_path = "c.pem", .client_key_path = path}),
            "client_key_path is '" + path + "', a FIFO; give a regular file");
  std::filesystem::remove_all(folder);
}

TEST(ConfigTest, AnErrorAboutAnEndpointNamesItsVariable) {
  for (const char* name : {"AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"}) {
    EXPECT_NE(Failure({.region = "r"}, {{name, "ftp://x"}})
                  .find(std::string(name) + ": Custom endpoint `ftp://x` was not a valid URI"),
              std::string::npos);
  }
  EXPECT_EQ(Failure({.region = "r", .endpoint_url = "ftp://x"}).find(": Custom"),
            std::string::npos);
}

TEST(ConfigTest, SelectsAnotherProfile) {
  const std::string file = "[default]\nregion = one\n[profile other]\nregion = two\n";
  EXPECT_EQ(Resolve({.profile = "other"}, {}, file)->client.region, "two");
  EXPECT_EQ(Resolve({}, {{"AWS_PROFILE", "other"}}, file)->client.region, "two");
}

TEST(ConfigTest, RejectsAnInvalidMemoryLimit) {
  EXPECT_TRUE(Resolve({.region = "r"}, {{"PENSTOCK_MEMORY_LIMIT", ""}}).ok());
  EXPECT_TRUE(Resolve({.region = "r"}, {{"PENSTOCK_MEMORY_LIMIT", "256MiB"}}).ok());
  EXPECT_NE(Failure({.region = "r"}, {{"PENSTOCK_MEMORY_LIMIT", "lots"}})
                .find("PENSTOCK_MEMORY_LIMIT must be 16777216 (16MiB) or more"),
            std::string::npos);
}

TEST(ConfigTest, RejectsAUserAgentThatIsNotPrintableAscii) {
  EXPECT_NE(Failure({.region = "r", .user_agent = "a\r\nx-amz-acl: public-read"}), "(accepted)");
  EXPECT_NE(Failure({.region = "r", .user_agent = "caf\xc3\xa9"}), "(accepted)");
}

}  // namespace
}  // namespace penstock::s3
