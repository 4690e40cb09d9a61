#include "bindings/core/client/first_bytes.h"

#include <optional>
#include <utility>

#include "base/log/caught.h"
#include "penstock/base/mutex.h"

namespace penstock::python {
namespace {

// Waits for one or two responses. Each callback keeps it alive.
class FirstBytes final : public std::enable_shared_from_this<FirstBytes> {
 public:
  FirstBytes(std::shared_ptr<Client> client, const DownloadRequest& request,
             ChecksumRequest checksums, Callback<DownloadResponse> done)
      : client_(std::move(client)),
        metadata_request_{request.bucket, request.key, request.version_id, request.options.call},
        checksums_(checksums),
        done_(std::move(done)),
        missing_(checksums == ChecksumRequest::kConcurrent ? 2 : 1) {}

  void Start(const std::shared_ptr<Client>& client, DownloadRequest request) {
    if (checksums_ == ChecksumRequest::kConcurrent) RequestMetadata(*client);
    StartDownload(client, std::move(request),
                  [self = shared_from_this()](Result<DownloadResponse> response) {
                    self->OnDownload(std::move(response));
                  });
  }

 private:
  void RequestMetadata(Client& client) {
    Result<void> sent = Caught("the request for the checksum of an object", [&] {
      client.Start(std::move(metadata_request_),
                   [self = shared_from_this()](Result<ObjectMetadata> metadata) {
                     self->OnMetadata(std::move(metadata));
                   });
    });
    if (!sent.ok()) OnMetadata(std::move(sent).error());
  }

  void OnDownload(Result<DownloadResponse> response) {
    const bool partial = response.ok() && response->bytes < response->metadata.size;
    std::shared_ptr<Client> client;
    {
      const MutexLock lock(mutex_);
      response_.emplace(std::move(response));
      if (partial && checksums_ == ChecksumRequest::kAfterwards) client = client_;
    }
    client == nullptr ? OnResponse() : RequestMetadata(*client);
  }

  void OnMetadata(Result<ObjectMetadata> metadata) {
    {
      const MutexLock lock(mutex_);
      metadata_.emplace(std::move(metadata));
    }
    OnResponse();
  }

  void OnResponse() {
    std::shared_ptr<Client> client;
    std::optional<Result<DownloadResponse>> response;
    {
      const MutexLock lock(mutex_);
      if (--missing_ > 0) return;
      if (response_->ok()) AddChecksums(response_->value());
      response = std::move(response_);
      client = std::move(client_);
    }
    client.reset();  // before the callback, so that the caller destroys the client
    done_(*std::move(response));
  }

  void AddChecksums(DownloadResponse& response) PENSTOCK_REQUIRES(mutex_) {
    ObjectMetadata& fetched = response.metadata;
    if (response.bytes >= fetched.size) return;
    fetched.checksums.clear();
    if (metadata_ && metadata_->ok() && !fetched.etag.empty() &&
        (*metadata_)->etag == fetched.etag && (*metadata_)->size == fetched.size)
      fetched.checksums = std::move((*metadata_)->checksums);
  }

  Mutex mutex_;
  std::shared_ptr<Client> client_ PENSTOCK_GUARDED_BY(mutex_);  // until the result
  HeadObjectRequest metadata_request_;
  const ChecksumRequest checksums_;
  const Callback<DownloadResponse> done_;
  int missing_ PENSTOCK_GUARDED_BY(mutex_);  // responses
  std::optional<Result<DownloadResponse>> response_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Result<ObjectMetadata>> metadata_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

void StartFirstBytes(const std::shared_ptr<Client>& client, DownloadRequest request,
                     ChecksumRequest checksums, Callback<DownloadResponse> done) {
  std::make_shared<FirstBytes>(client, request, checksums, std::move(done))
      ->Start(client, std::move(request));
}

}  // namespace penstock::python
