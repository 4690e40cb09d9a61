// Whole listings, several prefixes at a time.
#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "penstock/bucket_kind.h"
#include "penstock/object_list.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

// A stretch of the listing: objects that are here, or a common prefix whose objects a listing of
// its own brings.
struct Stretch {
  std::string prefix;  // empty: there is none
  std::unique_ptr<Lister> pages;
  bool complete = false;
  ObjectList objects;
};

void AppendAll(ObjectList& list, const ObjectList& more) {
  for (std::size_t i = 0; i < more.size(); ++i) list.Append(more[i]);
}

// The first level of a listing, and below it a listing per common prefix, several at a time: while
// a page of one is waited for, the others' are on their way too.
class PrefixListing {
 public:
  PrefixListing(std::shared_ptr<ObjectStore> store, const ListObjectsRequest& request,
                const ListAllOptions& options)
      : store_(std::move(store)),
        request_(request),
        most_(static_cast<std::size_t>(std::max(1, options.parallel))) {
    ListObjectsRequest top = request;
    top.delimiter = options.delimiter;
    top_ = Lister::Create(store_, std::move(top));
  }

  Result<ObjectList> Run(const Interrupt& interrupt) {
    while (top_ || !stretches_.empty()) {
      if (top_ && waiting_ == 0 && running_ < most_) PENSTOCK_TRY(TakeTopPage(interrupt));
      StartListings();
      PENSTOCK_TRY(TakePages(interrupt));
      for (; !stretches_.empty() && stretches_.front().complete; stretches_.pop_front()) {
        AppendAll(all_, stretches_.front().objects);
      }
    }
    return std::move(all_);
  }

 private:
  // Objects and common prefixes of a page come apart, each in order; every key below a prefix
  // stands where the prefix does.
  Result<void> TakeTopPage(const Interrupt& interrupt) {
    PENSTOCK_ASSIGN(std::optional<ListObjectsResponse> page, top_->Next(interrupt));
    if (!page) {
      top_.reset();
      return Ok();
    }
    auto prefix = page->common_prefixes.begin();
    for (const ObjectSummary& object : page->objects) {
      for (; prefix != page->common_prefixes.end() && *prefix < object.key.value; ++prefix)
        AddPrefix(std::move(*prefix));
      if (stretches_.empty() || !stretches_.back().prefix.empty())
        stretches_.emplace_back().complete = true;
      stretches_.back().objects.Append(object);
    }
    for (; prefix != page->common_prefixes.end(); ++prefix) AddPrefix(std::move(*prefix));
    return Ok();
  }

  void AddPrefix(std::string prefix) {
    stretches_.emplace_back().prefix = std::move(prefix);
    ++waiting_;
  }

  void StartListings() {
    for (Stretch& stretch : stretches_) {
      if (waiting_ == 0 || running_ == most_) return;
      if (stretch.complete || stretch.pages) continue;
      ListObjectsRequest below = request_;
      below.prefix = stretch.prefix;
      stretch.pages = Lister::Create(store_, std::move(below));
      stretch.pages->Start();
      --waiting_;
      ++running_;
    }
  }

  // One page of every listing that runs.
  Result<void> TakePages(const Interrupt& interrupt) {
    for (Stretch& stretch : stretches_) {
      if (!stretch.pages) continue;
      PENSTOCK_ASSIGN(const std::optional<ListObjectsResponse> page,
                      stretch.pages->Next(interrupt));
      if (page) {
        for (const ObjectSummary& object : page->objects) stretch.objects.Append(object);
      } else {
        stretch.pages.reset();
        stretch.complete = true;
        --running_;
      }
    }
    return Ok();
  }

  const std::shared_ptr<ObjectStore> store_;
  const ListObjectsRequest request_;
  const std::size_t most_;
  std::unique_ptr<Lister> top_;
  std::deque<Stretch> stretches_;  // in order
  std::size_t waiting_ = 0;        // common prefixes whose listing has not begun
  std::size_t running_ = 0;        // and has
  ObjectList all_;
};

// Page by page, since nobody promises that a common prefix comes once, and put in order at the end.
Result<ObjectList> ListDirectoryBucket(std::shared_ptr<ObjectStore> store, ListObjectsRequest whole,
                                       const Interrupt& interrupt) {
  const auto pages = Lister::Create(std::move(store), std::move(whole));
  std::vector<ObjectSummary> found;
  for (;;) {
    PENSTOCK_ASSIGN(std::optional<ListObjectsResponse> page, pages->Next(interrupt));
    if (!page) break;
    found.insert(found.end(), std::make_move_iterator(page->objects.begin()),
                 std::make_move_iterator(page->objects.end()));
  }
  std::ranges::sort(found, {}, [](const ObjectSummary& object) -> const std::string& {
    return object.key.value;
  });
  ObjectList all;
  for (const ObjectSummary& object : found) all.Append(object);
  return all;
}

}  // namespace

Result<ObjectList> ListAll(std::shared_ptr<ObjectStore> store, const ListObjectsRequest& request,
                           const ListAllOptions& options, const Interrupt& interrupt) {
  ListObjectsRequest whole = request;
  whole.delimiter.clear();
  whole.continuation_token.clear();
  whole.start_after.clear();
  if (IsDirectoryBucket(request.bucket.value))
    return ListDirectoryBucket(std::move(store), std::move(whole), interrupt);
  if (!options.delimiter.empty())
    return PrefixListing(std::move(store), whole, options).Run(interrupt);
  const auto pages = Lister::Create(std::move(store), std::move(whole));
  ObjectList all;
  for (;;) {
    PENSTOCK_ASSIGN(const std::optional<ListObjectsResponse> page, pages->Next(interrupt));
    if (!page) return all;
    for (const ObjectSummary& object : page->objects) all.Append(object);
  }
}

}  // namespace penstock
