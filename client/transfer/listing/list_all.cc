// Whole listings, with several prefixes in parallel.
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

// A section of the listing: objects, or a common prefix whose objects are listed separately.
struct Section {
  std::string prefix;  // empty: none
  std::unique_ptr<Lister> pages;
  bool complete = false;
  ObjectList objects;
};

void AppendAll(ObjectList& list, const ObjectList& more) {
  for (std::size_t i = 0; i < more.size(); ++i) list.Append(more[i]);
}

// Lists the first level, and a listing per common prefix below it, several in parallel: while it
// waits for a page of one listing, pages of the others are in flight.
class PrefixListing {
 public:
  PrefixListing(std::shared_ptr<ObjectStore> store, const ListObjectsRequest& request,
                const ListAllOptions& options)
      : store_(std::move(store)),
        request_(request),
        max_running_(static_cast<std::size_t>(std::max(1, options.parallel))) {
    ListObjectsRequest top = request;
    top.delimiter = options.delimiter;
    top_ = Lister::Create(store_, std::move(top));
  }

  Result<ObjectList> Run(const Interrupt& interrupt) {
    while (top_ || !sections_.empty()) {
      if (top_ && waiting_ == 0 && running_ < max_running_) PENSTOCK_TRY(TakeTopPage(interrupt));
      StartListings();
      PENSTOCK_TRY(TakePages(interrupt));
      for (; !sections_.empty() && sections_.front().complete; sections_.pop_front()) {
        AppendAll(all_, sections_.front().objects);
      }
    }
    return std::move(all_);
  }

 private:
  // A page has objects and common prefixes separately, each in order. All keys below a prefix sort
  // at the position of the prefix.
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
      if (sections_.empty() || !sections_.back().prefix.empty())
        sections_.emplace_back().complete = true;
      sections_.back().objects.Append(object);
    }
    for (; prefix != page->common_prefixes.end(); ++prefix) AddPrefix(std::move(*prefix));
    return Ok();
  }

  void AddPrefix(std::string prefix) {
    sections_.emplace_back().prefix = std::move(prefix);
    ++waiting_;
  }

  void StartListings() {
    for (Section& section : sections_) {
      if (waiting_ == 0 || running_ == max_running_) return;
      if (section.complete || section.pages) continue;
      ListObjectsRequest below = request_;
      below.prefix = section.prefix;
      section.pages = Lister::Create(store_, std::move(below));
      section.pages->Start();
      --waiting_;
      ++running_;
    }
  }

  // Takes one page of every running listing.
  Result<void> TakePages(const Interrupt& interrupt) {
    for (Section& section : sections_) {
      if (!section.pages) continue;
      PENSTOCK_ASSIGN(const std::optional<ListObjectsResponse> page,
                      section.pages->Next(interrupt));
      if (page) {
        for (const ObjectSummary& object : page->objects) section.objects.Append(object);
      } else {
        section.pages.reset();
        section.complete = true;
        --running_;
      }
    }
    return Ok();
  }

  const std::shared_ptr<ObjectStore> store_;
  const ListObjectsRequest request_;
  const std::size_t max_running_;
  std::unique_ptr<Lister> top_;
  std::deque<Section> sections_;  // in order
  std::size_t waiting_ = 0;       // common prefixes whose listing has not started
  std::size_t running_ = 0;       // common prefixes whose listing has started
  ObjectList all_;
};

// Lists page by page and sorts at the end, because a directory bucket may return a common prefix
// more than once.
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
