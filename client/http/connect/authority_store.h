// The CA certificates of a bundle and a directory, parsed once for all connections of a thread.
// libcurl would parse the bundle again for each connection: 18 ms for the 144 authorities of
// Debian.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_AUTHORITY_STORE_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_AUTHORITY_STORE_H_

#include <openssl/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::http {

// Also owns the TLS sessions with the servers that these certificates verified: a resumed session
// is not verified again, so none may outlive a change of the certificates.
//
// Thread safety: belongs to one thread, because a verification adds certificates to the store.
class AuthorityStore {
 public:
  // Reads the bundle (PEM), but does not parse it. `directory_path`: certificates named by their
  // hash; several directories are separated by colons. Empty paths: none.
  AuthorityStore(std::string bundle_path, std::string directory_path);
  ~AuthorityStore();
  AuthorityStore(const AuthorityStore&) = delete;
  AuthorityStore& operator=(const AuthorityStore&) = delete;

  bool IsFor(std::string_view bundle_path, std::string_view directory_path) const {
    return bundle_path == bundle_path_ && directory_path == directory_path_;
  }
  // Returns whether the files still have the same certificates and parsing them has not failed.
  // Otherwise the next connection needs a new object.
  bool IsCurrent() const;

  // Parses the bundle at the first call. Certificates of the directory are read when a verification
  // needs them. Null: the bundle cannot be read or has no certificate, or memory ran out.
  X509_STORE* Certificates() noexcept;

  // libcurl's CURLSH, which handles must not outlive. Null: no TLS session is resumed.
  void* sessions() const { return sessions_; }

 private:
  struct File;

  static std::vector<File> ListDirectories(std::string_view paths);
  int CountCertificates() const;

  const std::string bundle_path_;
  const std::string directory_path_;
  const std::optional<std::string> bundle_;  // its bytes; none: cannot be read
  const std::vector<File> directory_;        // its files when this object was made
  void* const sessions_;
  X509_STORE* certificates_ = nullptr;
  int bundle_certificates_ = 0;  // number of certificates in the store after parsing
  bool failed_ = false;          // parsing has failed
};

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_AUTHORITY_STORE_H_
