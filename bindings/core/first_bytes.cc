#include "bindings/core/first_bytes.h"

#include <optional>
#include <utility>

#include "base/log/caught.h"
#include "penstock/base/mutex.h"

namespace penstock::python {
namespace {

// Waits for one or two responses. Each callback keeps it alive.
class FirstBytes final : public std::enable_shared_from_this<FirstBytes> {
 public:
  FirstBytes(std::shared_ptr<Client> client, const DownloadRequest& request, AskChecksums ask,
             Callback<DownloadResponse> done)
      : client_(std::move(client)),
        about_request_{request.bucket, request.key, request.version_id, request.options.call},
        ask_(ask),
        done_(std::move(done)),
        missing_(ask == AskChecksums::kBeside ? 2 : 1) {}

  void Start(const std::shared_ptr<Client>& client, DownloadRequest request) {
    if (ask_ == AskChecksums::kBeside) Ask(*client);
    StartDownload(client, std::move(request),
                  [self = shared_from_this()](Result<DownloadResponse> response) {
                    self->OnDownload(std::move(response));
                  });
  }

 private:
  void Ask(Client& client) {
    Result<void> sent = Caught("the request for the checksum of an object", [&] {
      client.Start(std::move(about_request_),
                   [self = shared_from_this()](Result<ObjectMetadata> about) {
                     self->OnMetadata(std::move(about));
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
      if (partial && ask_ == AskChecksums::kAfterwards) client = client_;
    }
    client == nullptr ? OnResponse() : Ask(*client);
  }

  void OnMetadata(Result<ObjectMetadata> about) {
    {
      const MutexLock lock(mutex_);
      about_.emplace(std::move(about));
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
    if (about_ && about_->ok() && !fetched.etag.empty() && (*about_)->etag == fetched.etag &&
        (*about_)->size == fetched.size)
      fetched.checksums = std::move((*about_)->checksums);
  }

  Mutex mutex_;
  std::shared_ptr<Client> client_ PENSTOCK_GUARDED_BY(mutex_);  // until the result
  HeadObjectRequest about_request_;
  const AskChecksums ask_;
  const Callback<DownloadResponse> done_;
  int missing_ PENSTOCK_GUARDED_BY(mutex_);  // responses
  std::optional<Result<DownloadResponse>> response_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Result<ObjectMetadata>> about_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

void StartFirstBytes(const std::shared_ptr<Client>& client, DownloadRequest request,
                     AskChecksums ask, Callback<DownloadResponse> done) {
  std::make_shared<FirstBytes>(client, request, ask, std::move(done))
      ->Start(client, std::move(request));
}

}  // namespace penstock::python
