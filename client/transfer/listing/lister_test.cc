#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "client/transfer/transfer_test_support.h"
#include "penstock/object_list.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

class ListerTest : public ::testing::TestWithParam<Completion> {
 protected:
  ListerTest() {
    for (const char* key : {"a", "b", "c", "d", "e"}) Put(*inner_, {}, ObjectKey(key));
  }

  static ListObjectsRequest InPagesOfTwo() {
    ListObjectsRequest request;
    request.bucket = kBucket;
    request.max_keys = 2;
    return request;
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
};

std::string Keys(const ListObjectsResponse& page) {
  std::string keys;
  for (const auto& object : page.objects) keys += object.key.value;
  return keys;
}

TEST_P(ListerTest, DeliversAllPagesInOrder) {
  const auto lister = Lister::Create(inner_, InPagesOfTwo());
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
  EXPECT_EQ(Keys(lister->Next().value().value()), "cd");
  EXPECT_EQ(Keys(lister->Next().value().value()), "e");
  EXPECT_FALSE(lister->Next().value().has_value());
  EXPECT_FALSE(lister->Next().value().has_value());
}

TEST_P(ListerTest, EmptyListingHasOnePage) {
  ListObjectsRequest request = InPagesOfTwo();
  request.prefix = "none";
  const auto lister = Lister::Create(inner_, request);
  const auto page = lister->Next();
  ASSERT_TRUE(page.ok() && page->has_value());
  EXPECT_TRUE((*page)->objects.empty());
  EXPECT_FALSE(lister->Next().value().has_value());
}

TEST_P(ListerTest, FetchesOnePageAhead) {
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  const auto lister = Lister::Create(store, InPagesOfTwo());
  EXPECT_EQ(store->count("ListObjectsV2"), 0u);
  ASSERT_TRUE(lister->Next().ok());
  EXPECT_EQ(store->count("ListObjectsV2"), 2u);
}

TEST_P(ListerTest, StartRequestsTheFirstPageOnce) {
  const auto store = std::make_shared<FaultyObjectStore>(inner_, nullptr);
  const auto lister = Lister::Create(store, InPagesOfTwo());
  lister->Start();
  lister->Start();
  EXPECT_EQ(store->count("ListObjectsV2"), 1u);
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
}

TEST_P(ListerTest, RequestsAFailedPageAgain) {
  const auto store = std::make_shared<FaultyObjectStore>(
      inner_, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.ordinal == 1) return MakeFault(ErrorKind::kUnavailable);
        return std::nullopt;
      });
  const auto lister = Lister::Create(store, InPagesOfTwo());
  EXPECT_EQ(Keys(lister->Next().value().value()), "ab");
  EXPECT_FALSE(lister->Next().ok());
  EXPECT_EQ(Keys(lister->Next().value().value()), "cd");
}

TEST_P(ListerTest, MissingBucketIsNotFound) {
  ListObjectsRequest request;
  request.bucket = BucketName("none");
  EXPECT_EQ(Lister::Create(inner_, request)->Next().error().code, "NoSuchBucket");
}

TEST_P(ListerTest, DestructionCancelsTheListing) {
  for (int i = 0; i < 50; ++i) {
    const auto lister = Lister::Create(inner_, InPagesOfTwo());
    ASSERT_TRUE(lister->Next().ok());
  }
}

// A server whose listing never ends: `page(n)` is the nth page, with a new continuation token.
class EndlessStore final : public FaultyObjectStore {
 public:
  EndlessStore(std::shared_ptr<ObjectStore> inner, std::function<ListObjectsResponse(int)> page)
      : FaultyObjectStore(std::move(inner), {}), page_(std::move(page)) {}
  using FaultyObjectStore::Start;
  void Start(ListObjectsRequest, Callback<ListObjectsResponse> done) override {
    if (++pages > 50'000)
      return done(Error::Make(ErrorKind::kInternal, "the client asked for 50,000 pages"));
    ListObjectsResponse page = page_(pages);
    page.next_token = "token " + std::to_string(pages);
    done(std::move(page));
  }
  int pages = 0;

 private:
  const std::function<ListObjectsResponse(int)> page_;
};

Result<int> CountPages(Lister& lister, int limit) {
  for (int pages = 0; pages < limit; ++pages) {
    PENSTOCK_ASSIGN(const std::optional<ListObjectsResponse> page, lister.Next());
    if (!page) return pages;
  }
  return limit;
}

void ExpectEndlessListing(const Error& error, const std::string& bucket) {
  EXPECT_EQ(error.kind, ErrorKind::kDataLoss) << error.message;
  EXPECT_EQ(error.bucket, bucket);
  EXPECT_EQ(error.message,
            "the listing of s3://" + bucket +
                "/ does not advance: the service returned 10000 pages in succession without keys "
                "and common prefixes, which is the limit of this client; list longer prefixes one "
                "by one");
}

TEST_P(ListerTest, EndlessEmptyPagesAreAnError) {
  const auto store =
      std::make_shared<EndlessStore>(inner_, [](int) { return ListObjectsResponse(); });
  const auto pages = CountPages(*Lister::Create(store, InPagesOfTwo()), 20'000);
  ASSERT_FALSE(pages.ok());
  ExpectEndlessListing(pages.error(), kBucket.value);
  EXPECT_LE(store->pages, 10'001);
  for (const char* bucket : {"plain", "b--usw2-az1--x-s3"}) {
    for (const char* delimiter : {"", "/"}) {
      store->pages = 0;
      ListObjectsRequest request = InPagesOfTwo();
      request.bucket = BucketName(bucket);
      const auto list = ListAll(store, request, {.delimiter = delimiter});
      ASSERT_FALSE(list.ok());
      ExpectEndlessListing(list.error(), bucket);
    }
    store->pages = 0;
    ListObjectsRequest request = InPagesOfTwo();
    request.bucket = BucketName(bucket);
    const auto ordered = CountPages(*Lister::CreateOrdered(store, request), 20'000);
    ASSERT_FALSE(ordered.ok());
    ExpectEndlessListing(ordered.error(), bucket);
  }
}

TEST_P(ListerTest, KeyOrPrefixResetsTheCountOfEmptyPages) {
  const auto store = std::make_shared<EndlessStore>(inner_, [](int number) {
    ListObjectsResponse page;
    if (number % 19'998 == 9'999) page.objects.emplace_back();
    if (number % 19'998 == 0) page.common_prefixes.emplace_back("p/");
    return page;
  });
  const auto pages = CountPages(*Lister::Create(store, InPagesOfTwo()), 45'000);
  ASSERT_TRUE(pages.ok()) << pages.error().message;
  EXPECT_EQ(*pages, 45'000);
}

TEST_P(ListerTest, PollsTheInterruptBeforeEachPage) {
  const auto store =
      std::make_shared<EndlessStore>(inner_, [](int) { return ListObjectsResponse(); });
  const auto lister = Lister::Create(store, InPagesOfTwo());
  int polls = 0;
  const Interrupt interrupt = [&polls] { return ++polls == 3; };
  EXPECT_EQ(lister->Next(interrupt).value()->next_token, "token 1");
  EXPECT_EQ(lister->Next(interrupt).value()->next_token, "token 2");
  EXPECT_EQ(lister->Next(interrupt).error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(lister->Next(interrupt).value()->next_token, "token 3");
  EXPECT_EQ(lister->Next([]() -> bool { throw std::runtime_error("stop"); }).error().kind,
            ErrorKind::kInternal);
  EXPECT_EQ(lister->Next(interrupt).value()->next_token, "token 4");
  EXPECT_EQ(ListAll(store, InPagesOfTwo(), {}, [] { return true; }).error().kind,
            ErrorKind::kCancelled);
}

INSTANTIATE_TEST_SUITE_P(Completions, ListerTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

}  // namespace
}  // namespace penstock::transfer
