// Fails each allocation of a transfer in turn. The transfer must complete once, with an error or
// with the right bytes.
#include <gtest/gtest.h>

#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/testing/allocation_failures.h"
#include "client/transfer/files/file_pool.h"
#include "client/transfer/late_cleanup.h"
#include "client/transfer/transfer_test_support.h"
#include "penstock/range_reader.h"

namespace penstock::transfer {
namespace {

using penstock::testing::FailsAllocation;
using penstock::testing::ForEachAllocation;
using penstock::testing::PausesFailures;

class CarefulSink final : public BodySink {
 public:
  CarefulSink(BodySink& inner, PausesFailures& pause) : inner_(inner), pause_(pause) {}
  Result<void> Begin(const ObjectMetadata& metadata, std::optional<std::uint64_t> length) override {
    return pause_.Resume([&] { return inner_.Begin(metadata, length); });
  }
  MutableByteView Window() override { return inner_.Window(); }
  Result<void> Commit(std::size_t count) override {
    return pause_.Resume([&] { return inner_.Commit(count); });
  }
  bool FollowsChecksum() const override { return inner_.FollowsChecksum(); }

 private:
  BodySink& inner_;
  PausesFailures& pause_;
};

// Completes calls inline, while Start runs.
class CarefulStore final : public penstock::testing::FaultyObjectStore {
 public:
  explicit CarefulStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner),
                          [](const penstock::testing::CallPoint&) { return std::nullopt; }) {}

  using FaultyObjectStore::Start;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override {
    Careful(std::move(request), std::move(done));
  }
  void Start(ListPartsRequest request, Callback<ListPartsResponse> done) override {
    Careful(std::move(request), std::move(done));
  }

 private:
  template <class Request>
  void Careful(Request request, Callback<typename Request::Response> done) {
    PausesFailures pause;
    std::optional<CarefulSink> sink;
    if constexpr (std::is_same_v<Request, GetObjectRequest>)
      request.sink = &sink.emplace(*request.sink, pause);
    FaultyObjectStore::Start(std::move(request), [&pause, done = std::move(done)](auto result) {
      static_cast<void>(pause.Resume([&] { done(std::move(result)); }));
    });
  }
};

std::shared_ptr<CarefulStore> MakeCarefulStore() {
  return std::make_shared<CarefulStore>(MakeStore(Completion::kInline));
}

TEST(OutOfMemory, DownloadCompletesOnce) {
  const auto store = MakeCarefulStore();
  const Bytes content = MakeContent(1000);
  Put(*store, content);
  const int allocations = ForEachAllocation([&](int nth) {
    Bytes target(content.size());
    int completions = 0;
    std::optional<Result<DownloadResponse>> result;
    DownloadRequest request;
    request.bucket = kBucket;
    request.key = kKey;
    request.destination = [&](std::uint64_t) { return MutableByteView(target); };
    request.options.part_size_bytes = 100;
    request.options.max_parallel_parts = 3;
    const bool failed = FailsAllocation(nth, [&] {
      StartDownload(store, std::move(request), [&](Result<DownloadResponse> response) {
        ++completions;
        result.emplace(std::move(response));
      });
    });
    EXPECT_EQ(completions, 1);
    if (!result) return false;
    if (result->ok()) {
      EXPECT_EQ(target, content);
    } else {
      EXPECT_EQ(result->error().kind, ErrorKind::kResourceExhausted) << result->error().message;
    }
    return failed;
  });
  EXPECT_GT(allocations, 10);
}

TEST(OutOfMemory, BatchOfRangesCompletesOnce) {
  const auto store = MakeCarefulStore();
  const Bytes content = MakeContent(1000);
  Put(*store, content);
  const int allocations = ForEachAllocation([&](int nth) {
    const auto reader = RangeReader::Create(store, {.max_gap_bytes = 0, .max_request_bytes = 100});
    Bytes target(300);
    int completions = 0;
    std::optional<Result<RangesRead>> result;
    RangeBatch batch{.bucket = kBucket, .key = kKey};
    for (std::uint64_t i = 0; i < 3; ++i)
      batch.pieces.push_back({i * 300, MutableByteView(target).subspan(i * 100, 100)});
    const bool failed = FailsAllocation(nth, [&] {
      reader->Start(std::move(batch), [&](Result<RangesRead> read) {
        ++completions;
        result.emplace(std::move(read));
      });
    });
    EXPECT_EQ(completions, 1);
    if (!result) return false;
    if (result->ok()) {
      for (std::size_t i = 0; i < target.size(); ++i)
        EXPECT_EQ(target[i], content[i / 100 * 300 + i % 100]);
    } else {
      EXPECT_EQ(result->error().kind, ErrorKind::kResourceExhausted) << result->error().message;
    }
    return failed;
  });
  EXPECT_GT(allocations, 10);
}

TEST(OutOfMemory, UploadEndsAndNeverPublishesAPartialObject) {
  const Bytes content = MakeContent(1000);
  const int allocations = ForEachAllocation([&](int nth) {
    const auto store = MakeCarefulStore();
    UploadOptions options;
    options.min_part_size_bytes = 0;
    options.part_size_bytes = 100;
    options.single_put_limit_bytes = 0;
    bool published = false;
    const bool failed = FailsAllocation(nth, [&] {
      try {
        published = Upload(store, kBucket, kKey, content, std::move(options)).ok();
      } catch (const std::bad_alloc&) {  // thrown by a blocking call to its caller
      }
    });
    const std::optional<Bytes> stored = Stored(*store);
    EXPECT_TRUE(stored == content || (!published && !stored));
    return failed;
  });
  EXPECT_GT(allocations, 10);
}

// The exit of the test program would hang if a failed cleanup still counted as running.
TEST(OutOfMemory, CleanupRunsAnyway) {
  const int allocations = ForEachAllocation([](int nth) {
    int runs = 0;
    bool ended = false;
    const bool failed = FailsAllocation(
        nth, [&] { ended = RunCleanup([&runs] { ++runs; }, std::chrono::minutes(1)); });
    EXPECT_TRUE(ended);
    EXPECT_EQ(runs, 1);
    return failed;
  });
  EXPECT_GE(allocations, 2);  // the shared state, and that of the thread
}

TEST(OutOfMemory, FailureThatCannotBeRecordedFailsTheDirectory) {
  const DirectoryOptions options{.max_parallel_files = 1};
  const Interrupt none;
  FilePool pool(options, none);
  const std::string path(100, 'p');  // not within the string object
  pool.Submit({path, ObjectKey(path), [](const CallOptions&) -> Result<std::uint64_t> {
                 Error error = Error::Make(ErrorKind::kNotFound, "planted");
                 allocations_until_failure = 0;  // of the pool's thread, which records it
                 return error;
               }});
  const auto response = pool.Finish();
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().kind, ErrorKind::kResourceExhausted) << response.error().message;
}

}  // namespace
}  // namespace penstock::transfer
