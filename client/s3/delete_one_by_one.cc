#include "client/s3/delete_one_by_one.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "penstock/base/mutex.h"

namespace penstock::s3 {
namespace {

constexpr int kAtATime = 8;

bool IsXmlControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' && c != '\t' && c != '\n' && c != '\r';
}

class Deletion : public std::enable_shared_from_this<Deletion> {
 public:
  Deletion(DeleteVerbs verbs, DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done)
      : verbs_(std::move(verbs)), request_(std::move(request)), done_(std::move(done)) {}

  void Run() {
    DeleteObjectsRequest many{request_.bucket, {}, request_.options};
    for (const ObjectKey& key : request_.keys) (FitsXml(key.value) ? many.keys : singles_).push_back(key);
    if (many.keys.empty()) return Pump();
    verbs_.many(std::move(many), [self = shared_from_this()](Result<DeleteObjectsResponse> result) {
      if (!result.ok()) return std::exchange(self->done_, nullptr)(std::move(result));
      {
        const MutexLock lock(self->mutex_);
        self->failures_ = std::move(result->failures);
      }
      self->Pump();
    });
  }

 private:
  // Keeps a few requests under way. Calls may complete before they have been started, so one round takes up what ends in it.
  void Pump() {
    mutex_.Lock();
    if (pumping_) {
      mutex_.Unlock();
      return;
    }
    pumping_ = true;
    while (!error_ && next_ < singles_.size() && under_way_ < kAtATime) {
      const ObjectKey key = singles_[next_++];
      ++under_way_;
      mutex_.Unlock();
      verbs_.one({request_.bucket, key, {}, request_.options, {}}, [self = shared_from_this(), key](const Result<NoResponse>& result) {
        self->Ended(key, result);
      });
      mutex_.Lock();
    }
    pumping_ = false;
    const bool over = under_way_ == 0 && !over_;
    over_ = over_ || over;
    mutex_.Unlock();
    if (over) Finish();
  }

  void Ended(const ObjectKey& key, const Result<NoResponse>& result) {
    {
      const MutexLock lock(mutex_);
      --under_way_;
      if (!result.ok()) {
        const Error& error = result.error();
        if (error.code.empty() || error.code == "NoSuchBucket") {
          if (!error_) error_ = error;
        } else {
          failures_.push_back({key, error.code, error.message});
        }
      }
    }
    Pump();
  }

  // Nothing is under way any more, so nobody else is here.
  void Finish() {
    mutex_.Lock();
    DeleteObjectsResponse response{std::move(failures_)};
    std::optional<Error> error = std::move(error_);
    mutex_.Unlock();
    auto done = std::exchange(done_, nullptr);
    if (error) return done(std::move(*error));
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < request_.keys.size(); ++i) place.emplace(request_.keys[i].value, i);
    std::ranges::stable_sort(response.failures, {}, [&](const auto& failure) {
      const auto found = place.find(failure.key.value);
      return found == place.end() ? request_.keys.size() : found->second;
    });
    done(std::move(response));
  }

  const DeleteVerbs verbs_;
  const DeleteObjectsRequest request_;
  Callback<DeleteObjectsResponse> done_;
  std::vector<ObjectKey> singles_;

  Mutex mutex_;
  std::size_t next_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  int under_way_ PENSTOCK_GUARDED_BY(mutex_) = 0;
  bool pumping_ PENSTOCK_GUARDED_BY(mutex_) = false;
  bool over_ PENSTOCK_GUARDED_BY(mutex_) = false;
  std::vector<DeleteObjectsResponse::Failure> failures_ PENSTOCK_GUARDED_BY(mutex_);
  std::optional<Error> error_ PENSTOCK_GUARDED_BY(mutex_);
};

}  // namespace

bool FitsXml(std::string_view key) {
  return std::ranges::none_of(key, IsXmlControl) && IsValidUtf8(key) && key.find("\xEF\xBF\xBE") == std::string_view::npos &&
         key.find("\xEF\xBF\xBF") == std::string_view::npos;
}

bool NeedsSingleDeletes(const DeleteObjectsRequest& request) {
  return !std::ranges::all_of(request.keys, [](const ObjectKey& key) { return FitsXml(key.value); });
}

void StartDeleteOneByOne(DeleteVerbs verbs, DeleteObjectsRequest request, Callback<DeleteObjectsResponse> done) {
  std::make_shared<Deletion>(std::move(verbs), std::move(request), std::move(done))->Run();
}

}  // namespace penstock::s3
