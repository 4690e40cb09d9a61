// Reads the pages of a listing and requests the next page while the caller uses the last.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/async/poll_interrupt.h"
#include "client/transfer/process_bound.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

// A page of S3 may have fewer keys than requested, even none, without being the last one: S3 skips
// deleted keys page by page. At 1,000 keys a page, a run of this length is 10 million skipped keys.
constexpr int kMaxEmptyPages = 10'000;

class ListerImpl final : public Lister {
 public:
  ListerImpl(std::shared_ptr<ObjectStore> store, ListObjectsRequest first)
      : store_(std::move(store)), request_(std::move(first)) {}

  ~ListerImpl() override {
    if (!page_.valid()) return;
    page_.Cancel();
    const auto ignored = page_.Get();
    static_cast<void>(ignored);
  }

  void Start() override {
    if (!page_.valid() && !ended_) RequestPage();
  }

  Result<std::optional<ListObjectsResponse>> Next(const Interrupt& interrupt) override {
    if (ended_) return std::optional<ListObjectsResponse>();
    // Get polls only after some time, and callers follow pages that may each arrive before that.
    PENSTOCK_ASSIGN(const bool interrupted, PollInterrupt(interrupt));
    if (interrupted) return At(Error::Make(ErrorKind::kCancelled, "the listing was interrupted"));
    if (!page_.valid()) RequestPage();
    Result<ListObjectsResponse> page = page_.Get(interrupt);
    // request_ still names this page, so the next call requests it again. No page is lost after an
    // error.
    if (!page.ok()) return std::move(page).error();
    empty_pages_ = page->objects.empty() && page->common_prefixes.empty() ? empty_pages_ + 1 : 0;
    if (page->next_token.empty()) {
      ended_ = true;
    } else if (empty_pages_ >= kMaxEmptyPages) {
      // The next call requests this page again, and fails again if it is still empty.
      --empty_pages_;
      return NoAdvance("the service returned " + std::to_string(kMaxEmptyPages) +
                       " pages in succession without keys and common prefixes, which is the limit "
                       "of this client; list longer prefixes one by one");
    } else if (page->next_token == request_.continuation_token || Repeats(page->next_token)) {
      return NoAdvance("the service returned the same continuation token twice");
    } else {
      request_.continuation_token = page->next_token;
      RequestPage();
    }
    return std::optional<ListObjectsResponse>(std::move(page).value());
  }

 private:
  // Finds a cycle of any length while keeping one token (Brent, "An improved Monte Carlo
  // factorization algorithm", 1980). The token after 1, 2, 4, 8, ... pages is compared with the
  // following ones.
  bool Repeats(const std::string& token) {
    if (token == kept_token_) return true;
    if (++pages_ == next_kept_) {
      kept_token_ = token;
      next_kept_ *= 2;
    }
    return false;
  }

  Error At(Error error) const {
    return std::move(error).At("ListObjectsV2", request_.bucket.value);
  }

  Error NoAdvance(const std::string& reason) const {
    return At(Error::Make(ErrorKind::kDataLoss, "the listing of s3://" + request_.bucket.value +
                                                    "/" + request_.prefix +
                                                    " does not advance: " + reason));
  }

  void RequestPage() { page_ = store_->CallAsync(request_); }

  // Shared with the creator: the page in flight needs it.
  const std::shared_ptr<ObjectStore> store_;
  ListObjectsRequest request_;         // of the page in flight, or of the next page
  Pending<ListObjectsResponse> page_;  // in flight
  std::string kept_token_;
  std::uint64_t pages_ = 0;
  std::uint64_t next_kept_ = 1;
  int empty_pages_ = 0;  // in succession
  bool ended_ = false;
};

class BoundLister final : public Lister {
 public:
  BoundLister(std::unique_ptr<ListerImpl> lister, BucketName bucket)
      : lister_(std::move(lister), "this listing"), bucket_(std::move(bucket)) {}

  void Start() override {
    if (lister_.mine()) lister_.object().Start();
  }
  Result<std::optional<ListObjectsResponse>> Next(const Interrupt& interrupt) override {
    if (Result<void> usable = lister_.CheckBlockingUse("Lister::Next"); !usable.ok()) {
      return std::move(usable).error().At("ListObjectsV2", bucket_.value);
    }
    return lister_.object().Next(interrupt);
  }

 private:
  const transfer::ProcessBound<ListerImpl> lister_;
  const BucketName bucket_;
};

}  // namespace

std::unique_ptr<Lister> Lister::Create(std::shared_ptr<ObjectStore> store,
                                       ListObjectsRequest first) {
  BucketName bucket = first.bucket;
  return std::make_unique<BoundLister>(
      std::make_unique<ListerImpl>(std::move(store), std::move(first)), std::move(bucket));
}

}  // namespace penstock
