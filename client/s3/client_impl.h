// The implementation of Client, for client.cc and for tests that inject their own transport, clock
// and environment.
#ifndef PENSTOCK_CLIENT_S3_CLIENT_IMPL_H_
#define PENSTOCK_CLIENT_S3_CLIENT_IMPL_H_

#include <memory>

#include "client/cache/cached_read.h"
#include "client/s3/call/client_state.h"
#include "penstock/client.h"

namespace penstock {

struct [[gnu::visibility("hidden")]] Client::Impl {
  std::shared_ptr<s3::ClientState> state;  // Shared with the calls in flight.
  // Shared with the reads in flight. Null: no cache.
  std::shared_ptr<cache::CacheBackend> cache_backend;

  // The node cache of this process. Null: there is none, or it cannot be used.
  cache::NodeCache* Cache() const;

  // Client::Create with injected dependencies.
  static Result<std::unique_ptr<Client>> Make(ClientConfig config,
                                              s3::ClientDependencies dependencies);
  // For functions beside the class, such as Presign.
  static const std::shared_ptr<s3::ClientState>& SharedStateOf(const Client& client) {
    return client.impl_->state;
  }
  // For tests.
  static s3::ClientState& StateOf(const Client& client) { return *client.impl_->state; }
};

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_S3_CLIENT_IMPL_H_
