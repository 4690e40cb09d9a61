// S3 on the admin port, without a signature: /_penstock/s3/NAMESPACE/BUCKET/KEY?query.
//
// For the web console and for administrators. A request runs as the root of the account that owns
// the bucket. It passes no faults, limits and counters, and is not in the journal. Only
// the admin listener has it, behind the checks of the admin API.
#ifndef PENSTOCK_EMULATOR_SERVER_ADMIN_UNSIGNED_S3_H_
#define PENSTOCK_EMULATOR_SERVER_ADMIN_UNSIGNED_S3_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "emulator/identity/identities.h"
#include "emulator/s3/core/exchange.h"
#include "emulator/s3/core/filter_chain.h"
#include "emulator/store/system/memory_limit.h"
#include "penstock/base/result.h"

namespace penstock::emulator::server {

// Replaces the headers by which a browser would show a stored object, or run it as a part of this
// origin: it is only downloaded. The file name of a stored Content-Disposition stays.
void KeepFromRunning(s3::Response& response);

// Thread safety: methods may be called from any thread.
class UnsignedS3 {
 public:
  struct Options {
    // Opens a namespace. kNotFound: there is none of that name.
    std::function<Result<std::shared_ptr<s3::Namespace>>(const std::string& name)> space_of;
    std::shared_ptr<store::MemoryLimit> document_memory = {};  // null: no limit
  };
  // `operations` and `identities` must outlive this object.
  UnsignedS3(s3::Handler& operations, const identity::Identities& identities, Options options);

  static bool Serves(std::string_view target) { return target.starts_with(kRoot); }

  // The three methods are those of a message::Handler for requests that Serves returns true for.
  std::unique_ptr<message::Exchange> NewExchange(s3::RequestHead& request,
                                                 s3::Connection& connection);
  // Leaves an error of S3 as a response. Returns an error of the admin API, without a response, if
  // the namespace is unknown. The caller has checked that the client may use the admin API.
  Result<void> Handle(message::Exchange& exchange);
  void Finish(message::Exchange& exchange) { chain_.Finish(exchange); }

 private:
  static constexpr std::string_view kRoot = "/_penstock/s3/";

  const Options options_;
  s3::FilterChain chain_;
};

}  // namespace penstock::emulator::server

#endif  // PENSTOCK_EMULATOR_SERVER_ADMIN_UNSIGNED_S3_H_
