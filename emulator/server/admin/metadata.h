// The endpoints from which SDKs get the credentials of a role without a key, on the admin port:
//
//   /latest/...                                    the instance metadata service, version 2
//   /_penstock/container-credentials/ACCOUNT/ROLE  containers of ECS and EKS
//
// SDKs append "/latest/..." to AWS_EC2_METADATA_SERVICE_ENDPOINT. Only roles that a users document
// marks are returned. docs/how-to/credential-chains.md has the client's settings.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_METADATA_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_METADATA_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "emulator/identity/sts/role_credentials.h"
#include "emulator/message/exchange.h"

namespace penstock::emulator::server {

inline constexpr std::string_view kMetadataRoot = "/latest/";
inline constexpr std::string_view kContainerRoot = "/_penstock/container-credentials/";
inline constexpr std::string_view kInstanceId = "i-0123456789abcdef0";

// Thread safety: methods may be called from any thread.
class Metadata {
 public:
  // `identities` must outlive this object.
  Metadata(identity::Identities& identities, std::string region);

  static bool Serves(std::string_view target) {
    return target.starts_with(kMetadataRoot) || target.starts_with(kContainerRoot);
  }
  // Leaves the response. The caller has checked Host and Origin. `has_admin_token`: the request has
  // the token of the admin API, or none is configured.
  void Handle(message::Exchange& exchange, bool has_admin_token);

 private:
  void HandleInstance(message::Exchange& exchange, std::string_view path);
  void IssueToken(message::Exchange& exchange) const;
  void HandleContainer(message::Exchange& exchange, std::string_view name, bool has_admin_token);
  void SendInstanceCredentials(message::Exchange& exchange, std::string_view name);
  bool IsToken(std::string_view token) const;
  std::string TokenOf(std::uint64_t expires) const;
  std::string IdentityDocument() const;
  WallTime Now() const;

  identity::RoleCredentials credentials_;
  const std::string region_;
  std::array<std::byte, 32> secret_;  // of metadata tokens
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_METADATA_H_
