// Asynchronous operations that return std::future instead of calling a callback.
//
//   std::vector<std::future<penstock::Result<penstock::ObjectMetadata>>> heads;
//   for (const penstock::ObjectKey& key : keys) {
//     heads.push_back(penstock::StartFuture(client, HeadObjectRequest{bucket, key}));
//   }
//   for (auto& head : heads) {
//     if (auto result = head.get(); result.ok()) ...
//   }
#ifndef PENSTOCK_FUTURE_H_
#define PENSTOCK_FUTURE_H_

#include <future>
#include <memory>
#include <utility>

#include "penstock/object_store.h"
#include "penstock/transfer.h"

namespace penstock {

// Starts any request of an ObjectStore. The future becomes ready when the call has succeeded or
// failed. `store`, and everything that the request points to, must live until then. Destroying the
// future neither waits nor cancels; to cancel, keep the stop_source of request.options.cancel. Do
// not wait for the future in a callback.
//
// Thread safety: may be called from any thread.
template <class Request>
std::future<Result<typename Request::Response>> StartFuture(ObjectStore& store, Request request) {
  // Shared: the callback must be copyable.
  const auto promise = std::make_shared<std::promise<Result<typename Request::Response>>>();
  auto future = promise->get_future();
  store.Start(std::move(request), [promise](Result<typename Request::Response> result) {
    promise->set_value(std::move(result));
  });
  return future;
}

// Same for StartDownload, which keeps `store` alive.
inline std::future<Result<DownloadResponse>> StartFuture(std::shared_ptr<ObjectStore> store,
                                                         DownloadRequest request) {
  const auto promise = std::make_shared<std::promise<Result<DownloadResponse>>>();
  auto future = promise->get_future();
  StartDownload(std::move(store), std::move(request), [promise](Result<DownloadResponse> result) {
    promise->set_value(std::move(result));
  });
  return future;
}

}  // namespace penstock

#endif  // PENSTOCK_FUTURE_H_
