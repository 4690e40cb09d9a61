#include "client/s3/delete_one_by_one.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log/caught.h"
#include "base/missing.h"
#include "base/text/utf8.h"
#include "penstock/base/mutex.h"

namespace penstock::s3 {
namespace {

constexpr int kMaxParallel = 8;
constexpr std::string_view kCallback = "the callback of a call";

bool IsXmlControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' && c != '\t' && c != '\n' && c != '\r';
}

// Steps that can throw run before a request is handed over, or their exception becomes an error of
// the call.
class Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(DeleteVerbs verbs, DeleteObjectsRequest request,
           Callback<DeleteObjectsResponse> done) noexcept
      : verbs_(std::move(verbs)), request_(std::move(request)), done_(std::move(done)) {}

  void Run() {
    DeleteObjectsRequest many;
    Callback<DeleteObjectsResponse> listed;
    Result<DeleteObjectsResponse> response =
        Caught("the start of a call", [&] { return Prepare(many, listed); });
    const bool none_fits = many.keys.empty() && many.objects.empty();
    if (!response.ok() || none_fits) return Listed(std::move(response));
    verbs_.many(std::move(many), std::move(listed));
  }

 private:
  // Builds the request for the keys that XML can represent. Returns an empty response with capacity
  // for the others.
  Result<DeleteObjectsResponse> Prepare(DeleteObjectsRequest& many,
                                        Callback<DeleteObjectsResponse>& listed) {
    many.bucket = request_.bucket;
    many.options = request_.options;
    many.list_deleted = request_.list_deleted;
    many.bypass_governance_retention = request_.bypass_governance_retention;
    for (const ObjectKey& key : request_.keys) {
      if (FitsXml(key.value)) {
        many.keys.push_back(key);
      } else {
        singles_.push_back({.key = key});
      }
      place_.emplace(key.value, place_.size());
    }
    for (const ObjectToDelete& object : request_.objects) {
      (FitsXml(object.key.value) ? many.objects : singles_).push_back(object);
      place_.emplace(object.key.value, place_.size());
    }
    listed = [self = shared_from_this()](Result<DeleteObjectsResponse> result) {
      self->Listed(
          Caught("the answer to a call", [&] { return self->WithRoom(std::move(result)); }));
    };
    return WithRoom(DeleteObjectsResponse());
  }

  Result<DeleteObjectsResponse> WithRoom(Result<DeleteObjectsResponse> result) const {
    if (!result.ok()) return result;
    result->failures.reserve(result->failures.size() + singles_.size());
    if (request_.list_deleted) result->deleted.reserve(result->deleted.size() + singles_.size());
    return result;
  }

  void Listed(Result<DeleteObjectsResponse> response) {
    {
      const MutexLock lock(mutex_);
      if (response.ok()) {
        response_ = std::move(response).value();
      } else {
        error_ = std::move(response).error();
      }
    }
    Pump();
  }

  // Keeps up to kMaxParallel requests in flight. Calls may complete before Start returns, so a
  // nested Pump returns and the outer loop continues.
  void Pump() {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    while (!error_ && next_ < singles_.size() && under_way_ < kMaxParallel) {
      const std::size_t index = next_++;
      ++under_way_;
      mutex_.Unlock();
      StartOne(index);
      mutex_.Lock();
    }
    pumping_ = false;
    const bool over = under_way_ == 0 && !over_;
    over_ = over_ || over;
    mutex_.Unlock();
    if (over) Finish();
  }

  void StartOne(std::size_t index) {
    DeleteObjectRequest request;
    Callback<DeleteObjectResponse> ended;
    Result<void> made = Caught("the start of a call", [&] {
      const ObjectToDelete& object = singles_[index];
      request = {.bucket = request_.bucket,
                 .key = object.key,
                 .version_id = object.version_id,
                 .options = request_.options,
                 .if_match = object.if_match,
                 .bypass_governance_retention = request_.bypass_governance_retention,
                 .if_match_last_modified = object.if_match_last_modified,
                 .if_match_size = object.if_match_size};
      ended = [self = shared_from_this(), index](Result<DeleteObjectResponse> result) {
        self->Ended(index, std::move(result));
      };
    });
    if (!made.ok()) return Ended(index, std::move(made).error());
    verbs_.one(std::move(request), std::move(ended));
  }

  // Allocates nothing: Run and Listed have reserved the memory. Each index ends once, so its key
  // can be moved from.
  void Ended(std::size_t index, Result<DeleteObjectResponse> result) {
    std::optional<Error> error;
    if (!result.ok()) error = std::move(result).error();
    {
      const MutexLock lock(mutex_);
      --under_way_;
      if (!error) {
        AddDeleted(singles_[index], *result);
      } else if (!error->code.empty() && !IsMissingBucket(*error)) {
        response_.failures.push_back({std::move(singles_[index].key), std::move(error->code),
                                      std::move(error->message),
                                      std::move(singles_[index].version_id)});
      } else if (!error_) {
        error_ = std::move(error);
      }
    }
    Pump();
  }

  // A new delete marker has its own version id; a deleted version has that of the request.
  void AddDeleted(ObjectToDelete& object, DeleteObjectResponse& one) PENSTOCK_REQUIRES(mutex_) {
    if (!request_.list_deleted) return;
    DeleteObjectsResponse::Deleted deleted{
        std::move(object.key), std::move(object.version_id), one.delete_marker, {}};
    if (one.delete_marker) deleted.delete_marker_version_id = std::move(one.version_id);
    response_.deleted.push_back(std::move(deleted));
  }

  // No request is in flight, so no other thread runs code of this call.
  void Finish() {
    mutex_.Lock();
    DeleteObjectsResponse response = std::move(response_);
    std::optional<Error> error = std::move(error_);
    mutex_.Unlock();
    auto done = std::exchange(done_, nullptr);
    if (error) {
      Contain("the report of a failed call",
              [&] { error->At("DeleteObjects", request_.bucket.value); });
      return Contain(kCallback, [&] { done(std::move(*error)); });
    }
    // stable_sort falls back to sorting in place if it cannot allocate a buffer.
    const auto place = [&](const auto& entry) {
      const auto found = place_.find(entry.key.value);
      return found == place_.end() ? place_.size() : found->second;
    };
    std::ranges::stable_sort(response.failures, {}, place);
    std::ranges::stable_sort(response.deleted, {}, place);
    Contain(kCallback, [&] { done(std::move(response)); });
  }

  const DeleteVerbs verbs_;
  const DeleteObjectsRequest request_;
  Callback<DeleteObjectsResponse> done_;
  std::vector<ObjectToDelete> singles_;
  std::map<std::string_view, std::size_t> place_;  // Index of each key in request_.

  Mutex mutex_;
  std::size_t next_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int under_way_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool over_ PENSTOCK_GUARDED_BY(mutex_) = false;
  DeleteObjectsResponse response_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

bool FitsXml(std::string_view key) {
  return std::ranges::none_of(key, IsXmlControl) && IsValidUtf8(key) &&
         key.find("\xEF\xBF\xBE") == std::string_view::npos &&
         key.find("\xEF\xBF\xBF") == std::string_view::npos;
}

bool NeedsSingleDeletes(const DeleteObjectsRequest& request) {
  const auto fits = [](const ObjectKey& key) { return FitsXml(key.value); };
  return !std::ranges::all_of(request.keys, fits) ||
         !std::ranges::all_of(request.objects, fits, &ObjectToDelete::key);
}

void StartDeleteOneByOne(DeleteVerbs verbs, DeleteObjectsRequest request,
                         Callback<DeleteObjectsResponse> done) {
  std::shared_ptr<Deletion> deletion;
  // If the allocation fails, the arguments are still intact: the constructor moves them afterwards.
  Result<void> made = Caught("the start of a call", [&] {
    deletion = std::make_shared<Deletion>(std::move(verbs), std::move(request), std::move(done));
  });
  if (!made.ok()) return Contain(kCallback, [&] { done(std::move(made).error()); });
  deletion->Run();
}

}  // namespace penstock::s3
