// The handler of the admin listener: /_penstock/... with JSON, as described in
// docs/reference/admin-api.md.
//
// It has its own port, so that no bucket name is reserved and no signature is needed. Bind it to a
// trusted address or require a token.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_

#include <memory>
#include <string>
#include <string_view>

#include "emulator/message/exchange.h"
#include "emulator/server/admin/admin_hosts.h"
#include "emulator/server/admin/admin_routes.h"
#include "emulator/server/admin/metadata.h"
#include "emulator/server/admin/unsigned_s3.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/emulator.h"

namespace penstock::emulator::server {

// Requests that test suites of other emulators send to the S3 port: POST /moto-api/reset, also with
// the two slashes of the s3fs test fixture, and GET /_localstack/health. They cannot be S3
// requests: POST to a bucket needs a sub-resource or a form, and bucket names do not begin with
// '_'.
bool IsAdminAlias(std::string_view method, std::string_view target);

struct AdminOptions {
  std::string token;       // required for everything except health; empty: no token
  AdminHosts hosts;        // allowed Host headers for everything except health
  bool moto_reset = true;  // false: POST /moto-api/reset is refused
  // Serves the web console, and requests of pages of this listener's own origin, which is the
  // console, without a token.
  bool console = false;
  // The endpoints of instances and containers, which have tokens of their own; null: none.
  Metadata* metadata = nullptr;
  UnsignedS3* unsigned_s3 = nullptr;  // null: not served
  AdminHooks hooks = {};
  // that request bodies are charged to; null: none
  std::shared_ptr<store::MemoryLimit> document_memory = {};
};

// `emulator` must outlive the handler.
std::unique_ptr<message::Handler> MakeAdmin(Emulator& emulator, AdminOptions options);

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_ADMIN_H_
