// The admin listener's Handler: /_penstock/..., in JSON, as docs/admin-api.md describes it.
//
// On a port of its own, so that no bucket name is taken and no signature is needed: bind it to a
// trusted address, or ask for a token.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_

#include <memory>
#include <string>
#include <string_view>

#include "emulator/s3/core/exchange.h"
#include "emulator/server/admin/admin_hosts.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// The requests that other emulators' suites send to the S3 port: POST /moto-api/reset, also with
// the two slashes of s3fs's test fixture, and GET /_localstack/health. None can be a request of S3:
// its POST needs a sub-resource or a form, and no bucket begins with an underscore.
bool IsAdminAlias(std::string_view method, std::string_view target);

struct AdminOptions {
  std::string token;       // not empty: everything but health needs it
  AdminHosts hosts;        // everything but health is asked by one of these
  bool moto_reset = true;  // false: POST /moto-api/reset is refused
  // that request bodies are charged to; null: none
  std::shared_ptr<store::MemoryLimit> document_memory = {};
};

// `emulator` outlives the handler.
std::unique_ptr<s3::Handler> MakeAdmin(Emulator& emulator, AdminOptions options);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_
