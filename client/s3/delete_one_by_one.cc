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

using Failures = std::vector<DeleteObjectsResponse::Failure>;

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
    Result<Failures> failures =
        Caught("the start of a call", [&] { return Prepare(many, listed); });
    if (!failures.ok() || many.keys.empty()) return Listed(std::move(failures));
    verbs_.many(std::move(many), std::move(listed));
  }

 private:
  // Builds the request for the keys that XML can represent. Returns an empty list with capacity for
  // the failures of the others.
  Result<Failures> Prepare(DeleteObjectsRequest& many, Callback<DeleteObjectsResponse>& listed) {
    many = {request_.bucket, {}, request_.options};
    for (const ObjectKey& key : request_.keys) {
      (FitsXml(key.value) ? many.keys : singles_).push_back(key);
      place_.emplace(key.value, place_.size());
    }
    listed = [self = shared_from_this()](Result<DeleteObjectsResponse> result) {
      self->Listed(
          Caught("the answer to a call", [&] { return self->WithRoom(std::move(result)); }));
    };
    Failures failures;
    failures.reserve(singles_.size());
    return failures;
  }

  Result<Failures> WithRoom(Result<DeleteObjectsResponse> result) const {
    if (!result.ok()) return std::move(result).error();
    result->failures.reserve(result->failures.size() + singles_.size());
    return std::move(result->failures);
  }

  void Listed(Result<Failures> failures) {
    {
      const MutexLock lock(mutex_);
      if (failures.ok()) {
        failures_ = std::move(failures).value();
      } else {
        error_ = std::move(failures).error();
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
    Callback<NoResponse> ended;
    Result<void> made = Caught("the start of a call", [&] {
      request = {request_.bucket, singles_[index], {}, request_.options, {}};
      ended = [self = shared_from_this(), index](Result<NoResponse> result) {
        self->Ended(index, std::move(result));
      };
    });
    if (!made.ok()) return Ended(index, std::move(made).error());
    verbs_.one(std::move(request), std::move(ended));
  }

  // Allocates nothing: Run and Listed have reserved the memory. Each index ends once, so its key
  // can be moved from.
  void Ended(std::size_t index, Result<NoResponse> result) {
    std::optional<Error> error;
    if (!result.ok()) error = std::move(result).error();
    {
      const MutexLock lock(mutex_);
      --under_way_;
      if (error && !error->code.empty() && error->code != "NoSuchBucket") {
        failures_.push_back(
            {std::move(singles_[index]), std::move(error->code), std::move(error->message)});
      } else if (error && !error_) {
        error_ = std::move(error);
      }
    }
    Pump();
  }

  // No request is in flight, so no other thread runs code of this call.
  void Finish() {
    mutex_.Lock();
    DeleteObjectsResponse response{std::move(failures_)};
    std::optional<Error> error = std::move(error_);
    mutex_.Unlock();
    auto done = std::exchange(done_, nullptr);
    if (error) {
      Contain("the report of a failed call",
              [&] { error->At("DeleteObjects", request_.bucket.value); });
      return Contain(kCallback, [&] { done(std::move(*error)); });
    }
    // stable_sort falls back to sorting in place if it cannot allocate a buffer.
    std::ranges::stable_sort(response.failures, {}, [&](const auto& failure) {
      const auto found = place_.find(failure.key.value);
      return found == place_.end() ? request_.keys.size() : found->second;
    });
    Contain(kCallback, [&] { done(std::move(response)); });
  }

  const DeleteVerbs verbs_;
  const DeleteObjectsRequest request_;
  Callback<DeleteObjectsResponse> done_;
  std::vector<ObjectKey> singles_;
  std::map<std::string_view, std::size_t> place_;  // Index of each key in request_.

  Mutex mutex_;
  std::size_t next_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int under_way_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool over_ PENSTOCK_GUARDED_BY(mutex_) = false;
  Failures failures_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

bool FitsXml(std::string_view key) {
  return std::ranges::none_of(key, IsXmlControl) && IsValidUtf8(key) &&
         key.find("\xEF\xBF\xBE") == std::string_view::npos &&
         key.find("\xEF\xBF\xBF") == std::string_view::npos;
}

bool NeedsSingleDeletes(const DeleteObjectsRequest& request) {
  return !std::ranges::all_of(request.keys,
                              [](const ObjectKey& key) { return FitsXml(key.value); });
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
