// Finds the CA certificates of the system. Distributions keep them in different places, and libcurl
// and OpenSSL know only the place of the system that they were built for.
#ifndef PENSTOCK_CLIENT_HTTP_CONNECT_SYSTEM_AUTHORITIES_H_
#define PENSTOCK_CLIENT_HTTP_CONNECT_SYSTEM_AUTHORITIES_H_

#include <string>

#include "client/http/connect/environment_proxy.h"

namespace penstock::http {

struct SystemAuthorities {
  std::string bundle_path;     // PEM file; empty: only the directory
  std::string directory_path;  // of certificates named by their hash, in addition; empty: none
};

// SSL_CERT_FILE and SSL_CERT_DIR replace the bundle and the directory, also with paths that do not
// exist. Otherwise returns the first file and the first directory that is not empty, of those that
// Linux distributions use. If nothing is found, the bundle is a path that does not exist, which
// libcurl reports; without any path it would only report unknown issuers. `environment` is getenv
// or a substitute; `root` precedes the paths of the distributions. Thread safe if `environment` is.
SystemAuthorities FindSystemAuthorities(const GetVariable& environment,
                                        const std::string& root = {});
SystemAuthorities FindSystemAuthorities();

}  // namespace penstock::http

#endif  // PENSTOCK_CLIENT_HTTP_CONNECT_SYSTEM_AUTHORITIES_H_
