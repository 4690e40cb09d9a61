#include "client/http/connect/authority_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "client/http/connect/curl_global.h"
#include "client/http/tls_server_for_test.h"

namespace penstock::http {
namespace {

std::string Read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns the certificate of a new authority (PEM).
std::string NewAuthority() {
  const TlsServer server([](TlsConnection&) {});
  return Read(server.Get().ca_bundle_path);
}

class AuthorityStoreTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(InitCurl());
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  ~AuthorityStoreTest() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& text) const { std::ofstream(bundle()) << text; }
  std::string bundle() const { return folder_ + "/bundle.pem"; }

  std::string folder_ = ::testing::TempDir() + "penstock_authorities_XXXXXX";
};

TEST_F(AuthorityStoreTest, ParsesTheBundleOnce) {
  Write(NewAuthority());
  AuthorityStore store(bundle(), "");
  X509_STORE* const parsed = store.Certificates();
  EXPECT_NE(parsed, nullptr);
  EXPECT_EQ(store.Certificates(), parsed);
  EXPECT_TRUE(store.IsCurrent());
  EXPECT_TRUE(store.IsFor(bundle(), ""));
  EXPECT_FALSE(store.IsFor(bundle(), folder_));
}

// Without the second flag, an intermediate certificate in the bundle would not be trusted.
TEST_F(AuthorityStoreTest, HasTheFlagsOfLibcurl) {
  Write(NewAuthority());
  AuthorityStore store(bundle(), "");
  ASSERT_NE(store.Certificates(), nullptr);
  const unsigned long wanted = X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN;
  const unsigned long set =
      X509_VERIFY_PARAM_get_flags(X509_STORE_get0_param(store.Certificates()));
  EXPECT_EQ(set & wanted, wanted);
}

// The file system's clock may not have ticked between two writes.
TEST_F(AuthorityStoreTest, AChangeWithTheSameSizeAndTimesIsNoticed) {
  const std::string authority = NewAuthority();
  Write(authority);
  struct stat before {};
  ASSERT_EQ(::stat(bundle().c_str(), &before), 0);
  AuthorityStore store(bundle(), "");
  EXPECT_NE(store.Certificates(), nullptr);
  std::string other = authority;
  other[authority.size() / 2] ^= 1;
  Write(other);
  const std::array times{before.st_atim, before.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, bundle().c_str(), times.data(), 0), 0);
  EXPECT_FALSE(store.IsCurrent());
}

TEST_F(AuthorityStoreTest, TheSameBytesInANewFileAreNoChange) {
  Write(NewAuthority());
  AuthorityStore store(bundle(), "");
  EXPECT_NE(store.Certificates(), nullptr);
  std::filesystem::copy_file(bundle(), folder_ + "/copy.pem");
  std::filesystem::rename(folder_ + "/copy.pem", bundle());
  EXPECT_TRUE(store.IsCurrent());
  std::filesystem::remove(bundle());
  EXPECT_FALSE(store.IsCurrent());
}

TEST_F(AuthorityStoreTest, ABundleThatCannotBeUsedIsReadAgain) {
  const std::string authority = NewAuthority();
  std::string broken = authority;
  broken[authority.size() / 2] = '!';
  for (const std::string& text : {std::string(), std::string("garbage"), authority + broken}) {
    Write(text);
    AuthorityStore store(bundle(), "");
    EXPECT_EQ(store.Certificates(), nullptr) << text;
    EXPECT_FALSE(store.IsCurrent());
  }
  for (const std::string& path : {folder_, folder_ + "/none.pem", std::string("/dev/null")}) {
    AuthorityStore store(path, "");
    EXPECT_EQ(store.Certificates(), nullptr) << path;
    EXPECT_FALSE(store.IsCurrent());
  }
}

// Before certificates were parsed, nothing shows whether the directory will be used.
TEST_F(AuthorityStoreTest, DirectoriesAloneAreEnough) {
  const std::string directories = folder_ + "/first:" + folder_ + "/second";
  std::filesystem::create_directory(folder_ + "/second");
  AuthorityStore store("", directories);
  EXPECT_TRUE(store.IsCurrent());
  std::ofstream(folder_ + "/second/0.0") << NewAuthority();
  EXPECT_FALSE(store.IsCurrent());
  EXPECT_NE(store.Certificates(), nullptr);
  EXPECT_TRUE(store.IsCurrent()) << "no certificate of the directory has been used";
}

}  // namespace
}  // namespace penstock::http
