#include "client/http/connect/system_authorities.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace penstock::http {
namespace {

// The places and the order of Go's crypto/x509 (root_linux.go).
constexpr std::array kBundles{
    "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Ubuntu, Gentoo, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",                   // Fedora, RHEL 6, Amazon Linux
    "/etc/ssl/ca-bundle.pem",                             // openSUSE
    "/etc/pki/tls/cacert.pem",                            // OpenELEC
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // RHEL 7 and later
    "/etc/ssl/cert.pem",                                  // Alpine
};
constexpr std::array kDirectories{
    "/etc/ssl/certs",      // Debian, SLES
    "/etc/pki/tls/certs",  // Fedora, RHEL
};

// An empty variable counts as unset.
std::string Variable(const GetVariable& environment, const char* name) {
  const char* const value = environment(name);
  return value == nullptr ? std::string() : value;
}

std::string FirstBundle(const std::string& root) {
  for (const char* const path : kBundles)
    if (::access((root + path).c_str(), R_OK) == 0) return root + path;
  return {};
}

std::string FirstDirectory(const std::string& root) {
  for (const char* const path : kDirectories) {
    std::error_code failed;
    if (!std::filesystem::is_empty(root + path, failed) && !failed) return root + path;
  }
  return {};
}

}  // namespace

SystemAuthorities FindSystemAuthorities(const GetVariable& environment, const std::string& root) {
  SystemAuthorities found{Variable(environment, "SSL_CERT_FILE"),
                          Variable(environment, "SSL_CERT_DIR")};
  if (found.bundle_path.empty()) found.bundle_path = FirstBundle(root);
  if (found.directory_path.empty()) found.directory_path = FirstDirectory(root);
  if (found.bundle_path.empty() && found.directory_path.empty())
    found.bundle_path = root + kBundles.front();
  return found;
}

SystemAuthorities FindSystemAuthorities() {
  return FindSystemAuthorities([](const char* name) { return std::getenv(name); });
}

}  // namespace penstock::http
