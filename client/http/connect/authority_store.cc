#include "client/http/connect/authority_store.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "base/io/descriptor.h"

namespace penstock::http {
namespace {

constexpr off_t kMaxBundleBytes = 64 << 20;

// The share is used by one thread only, so it needs no lock functions.
CURLSH* MakeSessions() {
  CURLSH* const share = curl_share_init();
  if (share != nullptr) curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
  return share;
}

// Nullopt: not a readable regular file of at most kMaxBundleBytes.
std::optional<std::string> ReadBundle(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat state {};
  if (!file || ::fstat(file.get(), &state) != 0 || !S_ISREG(state.st_mode) ||
      state.st_size > kMaxBundleBytes)
    return std::nullopt;
  std::string bytes(static_cast<std::size_t>(state.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t count = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    have += static_cast<std::size_t>(count);
  }
  bytes.resize(have);
  return bytes;
}

// Adds what OpenSSL and libcurl take from a bundle: certificates and revocation lists. One that
// cannot be parsed makes the whole bundle unusable, as there. Returns whether a certificate was
// added.
bool AddBundle(X509_STORE* store, std::string_view pem) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bytes(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free);
  if (bytes == nullptr) return false;
  STACK_OF(X509_INFO)* const entries =
      PEM_X509_INFO_read_bio(bytes.get(), nullptr, nullptr, nullptr);
  bool complete = entries != nullptr;
  bool found = false;
  for (int i = 0; complete && i < sk_X509_INFO_num(entries); ++i) {
    const X509_INFO* const entry = sk_X509_INFO_value(entries, i);
    complete = (entry->x509 == nullptr || X509_STORE_add_cert(store, entry->x509) == 1) &&
               (entry->crl == nullptr || X509_STORE_add_crl(store, entry->crl) == 1);
    found = found || entry->x509 != nullptr;
  }
  sk_X509_INFO_pop_free(entries, X509_INFO_free);
  return complete && found;
}

}  // namespace

// A file of a directory, with what changes when it is replaced.
struct AuthorityStore::File {
  std::string path;
  std::uintmax_t device = 0, inode = 0, bytes = 0;
  std::int64_t modified_ns = 0, changed_ns = 0;
  auto operator<=>(const File&) const = default;
};

AuthorityStore::AuthorityStore(std::string bundle_path, std::string directory_path)
    : bundle_path_(std::move(bundle_path)),
      directory_path_(std::move(directory_path)),
      bundle_(ReadBundle(bundle_path_)),
      directory_(ListDirectories(directory_path_)),
      sessions_(MakeSessions()) {}

AuthorityStore::~AuthorityStore() {
  X509_STORE_free(certificates_);
  if (sessions_ != nullptr) curl_share_cleanup(sessions_);
}

std::vector<AuthorityStore::File> AuthorityStore::ListDirectories(std::string_view paths) {
  std::vector<File> files;
  const auto nanoseconds = [](timespec time) {
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  while (!paths.empty()) {
    const std::string_view path = paths.substr(0, paths.find(':'));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      struct stat state {};  // of the file that a link names
      if (::stat(entry->path().c_str(), &state) != 0) continue;
      files.push_back({entry->path().string(), state.st_dev, state.st_ino,
                       static_cast<std::uintmax_t>(state.st_size), nanoseconds(state.st_mtim),
                       nanoseconds(state.st_ctim)});
    }
  }
  std::ranges::sort(files);
  return files;
}

// The bytes of a bundle are compared because a file that is written twice within one tick of the
// file system's clock may keep its times and size. Reading 220 KB takes 11 µs.
//
// OpenSSL looks into the directory for each verification that the store has no certificate for, and
// keeps what it finds there in the store.
bool AuthorityStore::IsCurrent() const {
  if (failed_ || ReadBundle(bundle_path_) != bundle_) return false;
  const bool directory_unused =
      certificates_ != nullptr && CountCertificates() == bundle_certificates_;
  return directory_unused || ListDirectories(directory_path_) == directory_;
}

X509_STORE* AuthorityStore::Certificates() noexcept {
  if (certificates_ != nullptr || failed_) return certificates_;
  certificates_ = X509_STORE_new();
  // The flags that libcurl sets: an intermediate certificate of the bundle is an authority too.
  failed_ = certificates_ == nullptr ||
            X509_STORE_set_flags(certificates_,
                                 X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN) != 1 ||
            (!bundle_path_.empty() && (!bundle_ || !AddBundle(certificates_, *bundle_))) ||
            (!directory_path_.empty() &&
             X509_STORE_load_path(certificates_, directory_path_.c_str()) != 1);
  ERR_clear_error();  // otherwise libcurl would report it as an error of the connection
  if (failed_) {
    X509_STORE_free(certificates_);
    return certificates_ = nullptr;
  }
  bundle_certificates_ = CountCertificates();
  return certificates_;
}

int AuthorityStore::CountCertificates() const {
  int count = 0;
  const STACK_OF(X509_OBJECT)* const objects = X509_STORE_get0_objects(certificates_);
  for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
    if (X509_OBJECT_get_type(sk_X509_OBJECT_value(objects, i)) == X509_LU_X509) ++count;
  }
  return count;
}

}  // namespace penstock::http
