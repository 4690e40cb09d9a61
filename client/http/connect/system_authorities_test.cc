#include "client/http/connect/system_authorities.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace penstock::http {
namespace {

class SystemAuthoritiesTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_NE(::mkdtemp(root_.data()), nullptr); }
  ~SystemAuthoritiesTest() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& path) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << "certificate";
  }
  SystemAuthorities Find() const {
    const auto get = [this](const char* name) {
      const auto at = environment_.find(name);
      return at == environment_.end() ? nullptr : at->second.c_str();
    };
    return FindSystemAuthorities(get, root_);
  }

  std::string root_ = ::testing::TempDir() + "penstock_authorities_XXXXXX";
  std::map<std::string, std::string, std::less<>> environment_;
};

TEST_F(SystemAuthoritiesTest, EveryDistributionsBundleIsFound) {
  for (const std::string path :
       {"/etc/ssl/cert.pem", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/pki/tls/cacert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/certs/ca-certificates.crt"}) {  // the later ones have precedence
    Write(path);
    EXPECT_EQ(Find().bundle_path, root_ + path);
  }
}

TEST_F(SystemAuthoritiesTest, EmptyDirectoriesAreSkipped) {
  std::filesystem::create_directories(root_ + "/etc/ssl/certs");
  EXPECT_EQ(Find().directory_path, "");
  EXPECT_EQ(Find().bundle_path,
            root_ + "/etc/ssl/certs/ca-certificates.crt");  // named in the error
  Write("/etc/pki/tls/certs/5ad8a5d6.0");
  EXPECT_EQ(Find().directory_path, root_ + "/etc/pki/tls/certs");
  EXPECT_EQ(Find().bundle_path, "");
}

TEST_F(SystemAuthoritiesTest, VariablesReplaceEachPathSeparately) {
  Write("/etc/ssl/certs/ca-certificates.crt");
  environment_ = {{"SSL_CERT_FILE", "/mine.pem"}, {"SSL_CERT_DIR", ""}};
  EXPECT_EQ(Find().bundle_path, "/mine.pem");
  EXPECT_EQ(Find().directory_path, root_ + "/etc/ssl/certs");
  environment_ = {{"SSL_CERT_DIR", "/mine"}};
  EXPECT_EQ(Find().bundle_path, root_ + "/etc/ssl/certs/ca-certificates.crt");
  EXPECT_EQ(Find().directory_path, "/mine");
}

}  // namespace
}  // namespace penstock::http
