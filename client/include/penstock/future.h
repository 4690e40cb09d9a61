// The asynchronous verbs as std::future, for programs that would rather collect results than be
// called back.
//
//   std::vector<std::future<penstock::Result<penstock::ObjectMetadata>>> heads;
//   for (const penstock::ObjectKey& key : keys) heads.push_back(penstock::StartFuture(client,
//   HeadObjectRequest{bucket, key})); for (auto& head : heads) if (auto result = head.get();
//   result.ok()) ...
#ifndef PENSTOCK_FUTURE_H_
#define PENSTOCK_FUTURE_H_

#include <future>
#include <memory>
#include <utility>

#include "penstock/object_store.h"
#include "penstock/transfer.h"

namespace penstock {

// Starts any request of an ObjectStore; the future becomes ready when it has ended, well or badly.
// `store`, and what the request points to, live until then. Dropping the future neither waits nor
// cancels: for that keep the stop_source of request.options.cancel. Not to be waited for in a
// callback. Thread safety: any thread.
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

// The same for StartDownload, which keeps `store`.
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
