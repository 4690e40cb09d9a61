#include <algorithm>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/log/caught.h"
#include "client/s3/call/attempt_loop.h"
#include "client/s3/call/call_options.h"
#include "client/s3/client_impl.h"
#include "client/s3/configuration/configuration.h"
#include "client/s3/customer_key.h"
#include "client/s3/delete_one_by_one.h"
#include "client/s3/metrics/call_log.h"
#include "client/s3/verbs/verbs.h"
#include "penstock/memory.h"

namespace penstock {
namespace {

using s3::Operation;

// The typed part of a call: its request, which sinks refer to, and its response until the callback
// receives it.
template <class Request>
struct TypedCall {
  using Response = typename Request::Response;

  static constexpr bool kIsRead = std::is_same_v<Request, GetObjectRequest>;

  Request request;
  Callback<Response> done;
  // A read's body has its response.
  std::optional<std::conditional_t<kIsRead, s3::ObjectBody, Response>> response;

  Result<void> Accept(const s3::WireResponse& wire) {
    if constexpr (kIsRead) {
      PENSTOCK_TRY(response->Finish());
    } else {
      PENSTOCK_ASSIGN(response, s3::ParseResponse(request, wire));
    }
    return Ok();
  }

  void Done(Result<void> result) {
    if (!result.ok()) return done(std::move(result).error());
    if constexpr (kIsRead) {
      done(response->TakeMetadata());
    } else {
      // A call that succeeds by already_done_code (operations.h) has no response to parse.
      done(response ? *std::move(response) : Response{});
    }
  }
};

template <class Request>
// Shared by the functions of a PreparedCall.
using TypedCallPtr = std::shared_ptr<TypedCall<Request>>;

// Builds the attempt loop's call, which keeps `typed` alive.
template <class Request>
Result<s3::PreparedCall> Prepare(const s3::ClientState& state, const TypedCallPtr<Request>& typed) {
  s3::PreparedCall call;
  PENSTOCK_TRY(s3::AddCustomerKey(state.config.client.customer_key, typed->request));
  // For the checksum of an upload this reads the body, which is the caller's code.
  PENSTOCK_ASSIGN(call.request, s3::BuildRequest(typed->request, state.build_context));
  call.options = std::move(typed->request.options);
  PENSTOCK_TRY(s3::ApplyCallOptions(call.options, call.request));
  if constexpr (std::is_same_v<Request, GetObjectRequest>) {
    typed->response.emplace(typed->request, state.build_context.verify_downloads);
    call.success_body = &*typed->response;
  }
  call.accept = [typed](const s3::WireResponse& response) { return typed->Accept(response); };
  call.done = [typed](Result<void> result) { typed->Done(std::move(result)); };
  return call;
}

// Ends a call that was not sent.
template <class Request>
void Refuse(s3::ClientState& state, Operation operation, TypedCall<Request>& typed, Error error) {
  Contain("the report of a failed call", [&] {
    const Request& request = typed.request;
    if constexpr (requires { request.key; }) {
      error.At(s3::Info(operation).name, request.bucket.value, request.key.value);
    } else if constexpr (requires { request.destination; }) {
      error.At(s3::Info(operation).name, request.bucket.value, request.destination.value);
    } else if constexpr (requires { request.bucket; }) {
      error.At(s3::Info(operation).name, request.bucket.value);
    }
    state.counters.OnFailure(error.kind);
    s3::LogFailure(error);
  });
  Contain("the callback of a call", [&] { typed.Done(std::move(error)); });
}

// `done` runs exactly once, even if this function catches an exception.
template <class Request>
void Run(const std::shared_ptr<s3::ClientState>& state, Operation operation, Request request,
         Callback<typename Request::Response> done) {
  TypedCallPtr<Request> typed;
  Result<void> made =
      Caught("the start of a call", [&] { typed = std::make_shared<TypedCall<Request>>(); });
  if (!made.ok()) return Contain("the callback of a call", [&] { done(std::move(made).error()); });
  typed->request = std::move(request);
  typed->done = std::move(done);
  Result<s3::PreparedCall> call =
      Caught("the building of a request", [&] { return Prepare(*state, typed); });
  if (!call.ok()) return Refuse(*state, operation, *typed, std::move(call).error());
  Result<void> dispatched =
      Caught("the start of a call", [&] { s3::Dispatch(state, std::move(call).value()); });
  if (!dispatched.ok()) Refuse(*state, operation, *typed, std::move(dispatched).error());
}

// How the node cache reads from S3.
std::shared_ptr<cache::CacheBackend> BackendOf(const std::shared_ptr<s3::ClientState>& state) {
  auto backend = std::make_shared<cache::CacheBackend>();
  const ClientConfig& config = state->config.client;
  backend->endpoint = config.endpoint_url.empty() ? "aws/" + config.region : config.endpoint_url;
  backend->verify = state->config.verify_downloads;
  backend->get = [state](GetObjectRequest request, Callback<ObjectMetadata> done) {
    Run(state, Operation::kGetObject, std::move(request), std::move(done));
  };
  backend->head = [state](HeadObjectRequest request, Callback<ObjectMetadata> done) {
    Run(state, Operation::kHeadObject, std::move(request), std::move(done));
  };
  return backend;
}

}  // namespace

cache::NodeCache* Client::Impl::Cache() const {
  if (cache_backend == nullptr) return nullptr;
  const auto cache = cache::NodeCache::PerProcess(state->config.client.cache);
  return cache.ok() ? *cache : nullptr;
}

Result<std::unique_ptr<Client>> Client::Impl::Make(ClientConfig config,
                                                   s3::ClientDependencies dependencies) {
  PENSTOCK_TRY(s3::ApplyLogLevel(dependencies.environment));
  PENSTOCK_ASSIGN(s3::ResolvedConfig resolved,
                  s3::ResolveConfig(std::move(config), dependencies.environment));
  s3::LogClientMade(resolved.client);
  auto impl = std::make_shared<Impl>();
  impl->state = std::make_shared<s3::ClientState>(std::move(resolved), std::move(dependencies));
  const ClientConfig& client = impl->state->config.client;
  // What is encrypted with a key of the customer is never stored as plain bytes.
  if (!client.cache.directory->empty() && client.customer_key.empty()) {
    PENSTOCK_TRY(cache::NodeCache::PerProcess(client.cache));  // reports a wrong directory
    impl->cache_backend = BackendOf(impl->state);
  }
  return std::unique_ptr<Client>(new Client(std::move(impl)));
}

Result<std::unique_ptr<Client>> Client::Create(ClientConfig config) {
  return Impl::Make(std::move(config),
                    s3::ClientDependencies::PerProcess(config.io_threads.value_or(0),
                                                       config.max_connections.value_or(0)));
}

Client::Client(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;

const ClientConfig& Client::config() const { return impl_->state->config.client; }
bool Client::may_repeat() const { return impl_->state->config.max_attempts > 1; }
int Client::idle_threads() const { return impl_->state->dependencies.transport()->idle_threads(); }
Deadline Client::DeadlineOf(const CallOptions& options) const {
  return s3::DeadlineOf(*impl_->state, options);
}
ClientStats Client::stats() const {
  ClientStats stats = impl_->state->counters.Snapshot();
  if (const auto& backend = impl_->cache_backend) {
    stats.cache = {.hits = backend->hits.load(std::memory_order_relaxed),
                   .hit_bytes = backend->hit_bytes.load(std::memory_order_relaxed),
                   .misses = backend->misses.load(std::memory_order_relaxed),
                   .miss_bytes = backend->miss_bytes.load(std::memory_order_relaxed)};
  }
  return stats;
}
void Client::OnMismatch(const BucketName& bucket, const ObjectKey& key, const ETag& etag,
                        std::uint64_t object_bytes) {
  cache::NodeCache* const cache = impl_->Cache();
  if (cache == nullptr) return;
  cache->Drop({impl_->cache_backend->endpoint, bucket.value, key.value, etag.value}, object_bytes,
              "the bytes of a cached object differ from its checksum");
}
void Client::SetObserver(std::function<void(const RequestEvent&)> observer) {
  impl_->state->counters.SetObserver(std::move(observer));
}

void Client::Start(GetObjectRequest request, Callback<ObjectMetadata> done) {
  if (cache::NodeCache* const cache = impl_->Cache();
      cache != nullptr && cache::IsCacheable(request)) {
    request.options.deadline = DeadlineOf(request.options);  // for all its requests and waits
    return cache::StartCachedRead(*cache, impl_->cache_backend, std::move(request),
                                  std::move(done));
  }
  Run(impl_->state, Operation::kGetObject, std::move(request), std::move(done));
}
void Client::Start(HeadObjectRequest request, Callback<ObjectMetadata> done) {
  Run(impl_->state, Operation::kHeadObject, std::move(request), std::move(done));
}
void Client::Start(PutObjectRequest request, Callback<PutObjectResponse> done) {
  Run(impl_->state, Operation::kPutObject, std::move(request), std::move(done));
}
void Client::Start(DeleteObjectRequest request, Callback<DeleteObjectResponse> done) {
  Run(impl_->state, Operation::kDeleteObject, std::move(request), std::move(done));
}
void Client::Start(DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) {
  const auto many = [state = impl_->state](DeleteObjectsRequest list,
                                           Callback<DeleteObjectsResponse> listed) {
    Run(state, Operation::kDeleteObjects, std::move(list), std::move(listed));
  };
  // DeleteObjects with an invalid list fails as one call.
  const bool refused = request.keys.size() + request.objects.size() > s3::kMaxKeysToDelete ||
                       s3::HasEmptyKey(request);
  if (refused || !s3::NeedsSingleDeletes(request)) return many(std::move(request), std::move(done));
  const auto one = [state = impl_->state](DeleteObjectRequest single,
                                          Callback<DeleteObjectResponse> deleted) {
    Run(state, Operation::kDeleteObject, std::move(single), std::move(deleted));
  };
  s3::DeleteVerbs verbs;
  Result<void> made = Caught("the start of a call", [&] { verbs = {many, one}; });
  if (!made.ok()) return Contain("the callback of a call", [&] { done(std::move(made).error()); });
  s3::StartDeleteOneByOne(std::move(verbs), std::move(request), std::move(done));
}
void Client::Start(CopyObjectRequest request, Callback<CopyObjectResponse> done) {
  Run(impl_->state, Operation::kCopyObject, std::move(request), std::move(done));
}
void Client::Start(ListObjectsRequest request, Callback<ListObjectsResponse> done) {
  Run(impl_->state, Operation::kListObjectsV2, std::move(request), std::move(done));
}
void Client::Start(ListObjectVersionsRequest request, Callback<ListObjectVersionsResponse> done) {
  Run(impl_->state, Operation::kListObjectVersions, std::move(request), std::move(done));
}
void Client::Start(CreateMultipartUploadRequest request,
                   Callback<CreateMultipartUploadResponse> done) {
  Run(impl_->state, Operation::kCreateMultipartUpload, std::move(request), std::move(done));
}
void Client::Start(UploadPartRequest request, Callback<CompletedPart> done) {
  Run(impl_->state, Operation::kUploadPart, std::move(request), std::move(done));
}
void Client::Start(UploadPartCopyRequest request, Callback<CompletedPart> done) {
  Run(impl_->state, Operation::kUploadPartCopy, std::move(request), std::move(done));
}
void Client::Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) {
  Run(impl_->state, Operation::kCompleteMultipartUpload, std::move(request), std::move(done));
}
void Client::Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kAbortMultipartUpload, std::move(request), std::move(done));
}
void Client::Start(ListPartsRequest request, Callback<ListPartsResponse> done) {
  Run(impl_->state, Operation::kListParts, std::move(request), std::move(done));
}
void Client::Start(ListMultipartUploadsRequest request,
                   Callback<ListMultipartUploadsResponse> done) {
  Run(impl_->state, Operation::kListMultipartUploads, std::move(request), std::move(done));
}
void Client::Start(CreateBucketRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kCreateBucket, std::move(request), std::move(done));
}
void Client::Start(HeadBucketRequest request, Callback<HeadBucketResponse> done) {
  Run(impl_->state, Operation::kHeadBucket, std::move(request), std::move(done));
}
void Client::Start(DeleteBucketRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kDeleteBucket, std::move(request), std::move(done));
}
void Client::Start(ListBucketsRequest request, Callback<ListBucketsResponse> done) {
  Run(impl_->state, Operation::kListBuckets, std::move(request), std::move(done));
}

void Client::Start(RenameObjectRequest request, Callback<NoResponse> done) {
  if (request.client_token.empty())
    request.client_token = s3::MakeUuid(impl_->state->dependencies.random);
  Run(impl_->state, Operation::kRenameObject, std::move(request), std::move(done));
}
void Client::Start(ListDirectoryBucketsRequest request,
                   Callback<ListDirectoryBucketsResponse> done) {
  Run(impl_->state, Operation::kListDirectoryBuckets, std::move(request), std::move(done));
}

void Client::Start(GetBucketConfigurationRequest request, Callback<BucketConfiguration> done) {
  Run(impl_->state, Operation::kGetBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(PutBucketConfigurationRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kPutBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(DeleteBucketConfigurationRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kDeleteBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(GetBucketVersioningRequest request, Callback<GetBucketVersioningResponse> done) {
  Run(impl_->state, Operation::kGetBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(PutBucketVersioningRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kPutBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(GetBucketTaggingRequest request, Callback<GetBucketTaggingResponse> done) {
  Run(impl_->state, Operation::kGetBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(PutBucketTaggingRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kPutBucketConfiguration, std::move(request), std::move(done));
}
void Client::Start(GetObjectTaggingRequest request, Callback<GetObjectTaggingResponse> done) {
  Run(impl_->state, Operation::kGetObjectConfiguration, std::move(request), std::move(done));
}
void Client::Start(PutObjectTaggingRequest request, Callback<ObjectConfigurationResponse> done) {
  Run(impl_->state, Operation::kPutObjectConfiguration, std::move(request), std::move(done));
}
void Client::Start(DeleteObjectTaggingRequest request, Callback<ObjectConfigurationResponse> done) {
  Run(impl_->state, Operation::kDeleteObjectConfiguration, std::move(request), std::move(done));
}
void Client::Start(GetObjectConfigurationRequest request, Callback<ObjectConfiguration> done) {
  Run(impl_->state, Operation::kGetObjectConfiguration, std::move(request), std::move(done));
}
void Client::Start(PutObjectConfigurationRequest request, Callback<NoResponse> done) {
  Run(impl_->state, Operation::kPutObjectConfiguration, std::move(request), std::move(done));
}
void Client::Start(RestoreObjectRequest request, Callback<RestoreObjectResponse> done) {
  Run(impl_->state, Operation::kRestoreObject, std::move(request), std::move(done));
}
void Client::Start(GetObjectAttributesRequest request, Callback<GetObjectAttributesResponse> done) {
  Run(impl_->state, Operation::kGetObjectAttributes, std::move(request), std::move(done));
}

}  // namespace penstock
