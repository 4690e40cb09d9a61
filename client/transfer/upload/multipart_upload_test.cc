#include "client/transfer/upload/multipart_upload.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "client/transfer/transfer_test_support.h"
#include "client/transfer/upload/upload_outcome.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultHook;
using penstock::testing::FaultyObjectStore;

class MultipartUploadTest : public ::testing::TestWithParam<Completion> {
 protected:
  std::shared_ptr<FaultyObjectStore> WithHook(FaultHook hook) {
    return std::make_shared<FaultyObjectStore>(inner_, std::move(hook));
  }

  // Makes the operation fail this way the first `times` times.
  std::shared_ptr<FaultyObjectStore> Failing(const std::string& operation, Fault fault,
                                             std::uint64_t times = 1000) {
    return WithHook([=](const CallPoint& point) -> std::optional<Fault> {
      if (point.operation == operation && point.ordinal < times) return fault;
      return std::nullopt;
    });
  }

  // Sends three parts, then completes.
  Result<UploadResponse> UploadAll(std::shared_ptr<ObjectStore> store, UploadOptions options = {}) {
    MultipartUpload upload(std::move(store), kBucket, kKey, std::move(options));
    PENSTOCK_TRY(upload.Create({}));
    for (std::size_t at = 0; at < content_.size(); at += 10) {
      PENSTOCK_TRY(upload.Send(PartBody::Of(ByteView(content_).subspan(at, 10)), {}));
    }
    return upload.Complete({});
  }

  std::shared_ptr<ObjectStore> inner_ = MakeStore(GetParam());
  const Bytes content_ = MakeContent(30);
};

TEST_P(MultipartUploadTest, PublishesThePartsInOrder) {
  const auto done = UploadAll(inner_);
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(done->bytes, 30u);
  EXPECT_TRUE(done->etag.value.ends_with("-3"));
  EXPECT_EQ(Stored(*inner_), content_);
}

TEST_P(MultipartUploadTest, DestructionLeavesNothing) {
  {
    MultipartUpload upload(inner_, kBucket, kKey, {});
    ASSERT_TRUE(upload.Create({}).ok());
    ASSERT_TRUE(upload.Send(PartBody::Of(content_), {}).ok());
  }
  EXPECT_EQ(OpenUploads(*inner_), 0u);
  EXPECT_FALSE(Stored(*inner_).has_value());
}

TEST_P(MultipartUploadTest, FailedPartAbortsTheUpload) {
  const auto done = UploadAll(Failing("UploadPart", MakeFault(ErrorKind::kAccessDenied)));
  EXPECT_EQ(done.error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
  EXPECT_FALSE(Stored(*inner_).has_value());
}

TEST_P(MultipartUploadTest, ReleasesMemoryOfAPartAlsoOnFailure) {
  MemoryBudget budget(64 << 20);
  BufferPool pool(budget);
  for (const auto& store : {inner_, std::shared_ptr<ObjectStore>(
                                        Failing("UploadPart", MakeFault(ErrorKind::kTimeout)))}) {
    MultipartUpload upload(store, kBucket, kKey, {});
    ASSERT_TRUE(upload.Create({}).ok());
    PartBody part(content_.size());
    part.AddMemory(pool.Take(1).value());
    part.Append(content_);
    ASSERT_EQ(budget.usage().held, BufferPool::kUnit);
    ASSERT_TRUE(upload.Send(std::move(part), {}).ok());
    EXPECT_EQ(upload.Complete({}).ok(), store == inner_);
    EXPECT_EQ(budget.usage().held, 0u);
    EXPECT_EQ(budget.usage().in_flight, 0u);
  }
}

TEST_P(MultipartUploadTest, AbortIsRetried) {
  const auto store = WithHook([](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation == "UploadPart") return MakeFault(ErrorKind::kAccessDenied);
    if (point.operation == "AbortMultipartUpload" && point.ordinal < 2)
      return MakeFault(ErrorKind::kUnavailable);
    return std::nullopt;
  });
  EXPECT_FALSE(UploadAll(store).ok());
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(MultipartUploadTest, LostResponseOfCompleteIsSuccess) {
  const auto done = UploadAll(Failing(
      "CompleteMultipartUpload", MakeFault(ErrorKind::kUnavailable, Fault::Moment::kAfter), 1));
  ASSERT_TRUE(done.ok());
  EXPECT_EQ(Stored(*inner_), content_);
}

TEST_P(MultipartUploadTest, CompleteWithAllResponsesLostIsSuccess) {
  const auto done = UploadAll(
      Failing("CompleteMultipartUpload", MakeFault(ErrorKind::kTimeout, Fault::Moment::kAfter)));
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  EXPECT_EQ(Stored(*inner_), content_);
  VectorSink sink;
  HeadObjectRequest head;
  head.bucket = kBucket;
  head.key = kKey;
  EXPECT_EQ(inner_->Call(std::move(head)).value().etag, done->etag);
}

TEST_P(MultipartUploadTest, CompleteThatNeverArrivedIsAnErrorAndLeavesNothing) {
  const auto done = UploadAll(Failing("CompleteMultipartUpload", MakeFault(ErrorKind::kTimeout)));
  EXPECT_EQ(done.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
  EXPECT_FALSE(Stored(*inner_).has_value());
}

TEST_P(MultipartUploadTest, FailedConditionKeepsTheOtherObject) {
  const Bytes other = MakeContent(5, 9);
  Put(*inner_, other);
  UploadOptions options;
  options.if_none_match_any = true;
  EXPECT_EQ(UploadAll(inner_, options).error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Stored(*inner_), other);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(MultipartUploadTest, IfMatchReplacesOnlyThatVersion) {
  UploadOptions options;
  options.if_match = Put(*inner_, MakeContent(5, 9));
  ASSERT_TRUE(UploadAll(inner_, options).ok());
  EXPECT_EQ(UploadAll(inner_, options).error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Stored(*inner_), content_);
  EXPECT_EQ(OpenUploads(*inner_), 0u);
}

TEST_P(MultipartUploadTest, ErrorsAreFinal) {
  MultipartUpload upload(Failing("CreateMultipartUpload", MakeFault(ErrorKind::kAccessDenied)),
                         kBucket, kKey, {});
  EXPECT_FALSE(upload.Create({}).ok());
  EXPECT_EQ(upload.Send(PartBody::Of(content_), {}).error().kind, ErrorKind::kAccessDenied);
  EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kAccessDenied);
}

INSTANTIATE_TEST_SUITE_P(Completions, MultipartUploadTest,
                         ::testing::Values(Completion::kInline, Completion::kThreaded));

// Completes parts in reverse order once `count` of them have arrived.
class ReversedParts final : public FaultyObjectStore {
 public:
  ReversedParts(std::shared_ptr<ObjectStore> inner, std::size_t count)
      : FaultyObjectStore(std::move(inner), nullptr), count_(count) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    held_.push_back([this, request, done] { FaultyObjectStore::Start(request, done); });
    if (held_.size() < count_) return;
    for (auto part = held_.rbegin(); part != held_.rend(); ++part) (*part)();
  }

 private:
  const std::size_t count_;
  std::vector<std::function<void()>> held_;
};

TEST(MultipartUploadOrder, PartsThatEndOutOfOrderArePublishedInOrder) {
  const auto inner = MakeStore(Completion::kInline);
  const Bytes content = MakeContent(30);
  MultipartUpload upload(std::make_shared<ReversedParts>(inner, 3), kBucket, kKey, {});
  ASSERT_TRUE(upload.Create({}).ok());
  for (std::size_t at = 0; at < 30; at += 10) {
    ASSERT_TRUE(upload.Send(PartBody::Of(ByteView(content).subspan(at, 10)), {}).ok());
  }
  ASSERT_TRUE(upload.Complete({}).ok());
  EXPECT_EQ(Stored(*inner), content);
}

// Holds every part until it is cancelled, and counts them.
class StuckParts final : public FaultyObjectStore {
 public:
  explicit StuckParts(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    held_.push_back(std::make_unique<Held>());
    Held* held = held_.back().get();
    held->done = std::move(done);
    held->on_stop.emplace(request.options.cancel, std::function<void()>([held] {
                            held->done(Error::Make(ErrorKind::kCancelled, "stopped"));
                          }));
  }
  std::size_t held() const { return held_.size(); }

 private:
  struct Held {
    Callback<CompletedPart> done;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;
  };
  std::vector<std::unique_ptr<Held>> held_;
};

TEST(MultipartUploadLimits, PartsInFlightAreBoundedByCountAndInterruptible) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<StuckParts>(inner);
  UploadOptions options;
  options.max_parallel_parts = 2;
  MultipartUpload upload(store, kBucket, kKey, options);
  const Bytes content = MakeContent(10);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Send(PartBody::Of(content), [] { return true; }).error().kind,
            ErrorKind::kCancelled);
  EXPECT_EQ(store->held(), 2u);
  EXPECT_EQ(OpenUploads(*inner), 0u);
}

// Records the time limit of each cleanup request.
class CleanupRecorder final : public FaultyObjectStore {
 public:
  CleanupRecorder(std::shared_ptr<ObjectStore> inner, FaultHook hook)
      : FaultyObjectStore(std::move(inner), std::move(hook)) {}
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override {
    aborts.push_back(request.options.deadline);
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  std::vector<Deadline> aborts;
};

// Makes Complete and every abort fail.
std::shared_ptr<CleanupRecorder> MakeStoreThatCannotCleanUp(
    const std::shared_ptr<ObjectStore>& inner, ErrorKind of_complete) {
  return std::make_shared<CleanupRecorder>(
      inner, [of_complete](const CallPoint& point) -> std::optional<Fault> {
        if (point.operation == "CompleteMultipartUpload") return MakeFault(of_complete);
        if (point.operation == "AbortMultipartUpload") return MakeFault(ErrorKind::kTimeout);
        return std::nullopt;
      });
}

constexpr std::uint64_t kTriesPerRemoval = 4;

TEST(MultipartUploadCleanup, FailedRemovalIsNotRepeatedAutomatically) {
  // Regression test: on a hanging network a failed write blocked for 30 s, and the destructor of
  // its writer for another 30 s.
  const auto store =
      MakeStoreThatCannotCleanUp(MakeStore(Completion::kInline), ErrorKind::kAccessDenied);
  {
    MultipartUpload upload(store, kBucket, kKey, {});
    ASSERT_TRUE(upload.Create({}).ok());
    EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kAccessDenied);
    EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kAccessDenied);
  }
  EXPECT_EQ(store->count("AbortMultipartUpload"), kTriesPerRemoval);
}

TEST(MultipartUploadCleanup, ExplicitAbortRepeatsTheRemovalOnce) {
  // Regression test: every Abort of a failed upload sent requests to an unresponsive service, 30 s
  // each.
  const auto store =
      MakeStoreThatCannotCleanUp(MakeStore(Completion::kInline), ErrorKind::kAccessDenied);
  {
    MultipartUpload upload(store, kBucket, kKey, {});
    ASSERT_TRUE(upload.Create({}).ok());
    ASSERT_FALSE(upload.Complete({}).ok());
    EXPECT_EQ(upload.Abort().error().kind, ErrorKind::kTimeout);
    EXPECT_EQ(store->count("AbortMultipartUpload"), 2 * kTriesPerRemoval);
    EXPECT_EQ(upload.Abort().error().kind, ErrorKind::kTimeout);
  }
  EXPECT_EQ(store->count("AbortMultipartUpload"), 2 * kTriesPerRemoval);
  EXPECT_GT(store->aborts.back().Left(SystemClock()), kInterruptedCleanupLimit);
}

TEST(MultipartUploadCleanup, CleanupAfterAnInterruptIsShortAndSkipsTheOutcome) {
  // Regression test: after Ctrl-C on a hanging network, the abort and the check for a published
  // object took 30 s each.
  const auto store =
      MakeStoreThatCannotCleanUp(MakeStore(Completion::kInline), ErrorKind::kCancelled);
  MultipartUpload upload(store, kBucket, kKey, {});
  const Bytes content = MakeContent(10);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kCancelled);
  while (store->count("AbortMultipartUpload") < kTriesPerRemoval) std::this_thread::yield();
  EXPECT_EQ(store->count("HeadObject"), 0u);
  EXPECT_LE(store->aborts.back().Left(SystemClock()), kInterruptedCleanupLimit);
}

// Holds aborts until the test releases them.
class SlowAborts final : public FaultyObjectStore {
 public:
  using FaultyObjectStore::FaultyObjectStore;
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override {
    const MutexLock lock(mutex_);
    held_ = [this, request = std::move(request), done = std::move(done)]() mutable {
      FaultyObjectStore::Start(std::move(request), std::move(done));
    };
    changed_.NotifyAll();
  }
  void LetThrough() {
    std::function<void()> next;
    {
      const MutexLock lock(mutex_);
      while (!held_) changed_.WaitIdle(mutex_);
      next = std::move(held_);
    }
    next();
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::function<void()> held_ PENSTOCK_GUARDED_BY(mutex_);
};

TEST(MultipartUploadCleanup, InterruptDoesNotWaitForASlowService) {
  // Regression test: Ctrl-C on a hanging network took effect after 5 s.
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<SlowAborts>(inner, FaultHook());
  {
    MultipartUpload upload(store, kBucket, kKey, {});
    const Bytes content = MakeContent(10);
    ASSERT_TRUE(upload.Create({}).ok());
    ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
    upload.Cancel(Error::Make(ErrorKind::kCancelled, "interrupted"));
  }
  EXPECT_EQ(OpenUploads(*inner), 1u);
  store->LetThrough();
  while (OpenUploads(*inner) != 0) std::this_thread::yield();
}

TEST(MultipartUploadCleanup, AbortAfterAnInterruptWaitsForASlowService) {
  // Regression test: abort() during a write of another thread failed with kTimeout after 75 ms.
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<SlowAborts>(inner, FaultHook());
  MultipartUpload upload(store, kBucket, kKey, {});
  ASSERT_TRUE(upload.Create({}).ok());
  upload.Cancel(Error::Make(ErrorKind::kCancelled, "interrupted"));
  store->LetThrough();  // the removal that follows by itself
  std::thread slow([&] { store->LetThrough(); });
  const Result<void> aborted = upload.Abort();
  slow.join();
  EXPECT_TRUE(aborted.ok()) << aborted.error().message;
  EXPECT_EQ(OpenUploads(*inner), 0u);
}

// Holds the response of CreateMultipartUpload until the test releases it or it is cancelled.
class SlowCreate : public FaultyObjectStore {
 public:
  using FaultyObjectStore::FaultyObjectStore;
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override {
    FaultyObjectStore::Start(std::move(request), [this, done = std::move(done)](
                                                     Result<CreateMultipartUploadResponse> made) {
      const MutexLock lock(mutex_);
      held_ = [made = std::move(made), done] { done(made); };
    });
  }
  void Release() {
    std::function<void()> held;
    {
      const MutexLock lock(mutex_);
      held = std::move(held_);
    }
    held();
  }

 private:
  Mutex mutex_;
  std::function<void()> held_ PENSTOCK_GUARDED_BY(mutex_);
};

TEST(MultipartUploadCleanup, InterruptedCreateLeavesNoUpload) {
  // Regression test: the request was cancelled before its id arrived, and the upload stayed open.
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<SlowCreate>(inner, FaultHook());
  {
    MultipartUpload upload(store, kBucket, kKey, {});
    const Result<void> created = upload.Create([] { return true; });
    ASSERT_FALSE(created.ok());
    EXPECT_EQ(created.error().kind, ErrorKind::kCancelled);
    EXPECT_EQ(created.error().operation, "CreateMultipartUpload");
    EXPECT_TRUE(upload.Abort().ok());
  }
  EXPECT_EQ(OpenUploads(*inner), 1u);
  store->Release();
  while (OpenUploads(*inner) != 0) std::this_thread::yield();
}

TEST(MultipartUploadCleanup, CreateAfterItsDeadlineLeavesNoUpload) {
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<SlowCreate>(inner, FaultHook());
  UploadOptions options;
  options.call.deadline = Deadline::After(SystemClock(), std::chrono::milliseconds(1));
  MultipartUpload upload(store, kBucket, kKey, options);
  EXPECT_EQ(upload.Create({}).error().kind, ErrorKind::kTimeout);
  store->Release();
  while (OpenUploads(*inner) != 0) std::this_thread::yield();
}

TEST(MultipartUploadCleanup, CreateAfterTheTimeLimitOfTheStoreLeavesNoUpload) {
  // Regression test: operation_timeout cancelled the request, and the upload stayed open.
  class Limited final : public SlowCreate {
   public:
    using SlowCreate::SlowCreate;
    Deadline DeadlineOf(const CallOptions&) const override {
      return Deadline::After(SystemClock(), std::chrono::milliseconds(1));
    }
    void Start(CreateMultipartUploadRequest request,
               Callback<CreateMultipartUploadResponse> done) override {
      grace = request.options.grace;
      SlowCreate::Start(std::move(request), std::move(done));
    }
    std::chrono::milliseconds grace{0};
  };
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<Limited>(inner, FaultHook());
  MultipartUpload upload(store, kBucket, kKey, {});
  EXPECT_EQ(upload.Create({}).error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(store->grace, kInterruptedCleanupLimit);
  store->Release();
  while (OpenUploads(*inner) != 0) std::this_thread::yield();
}

TEST(MultipartUploadCleanup, CompleteIsSentOnceToAStoreWithoutRepeats) {
  class Once final : public FaultyObjectStore {
   public:
    using FaultyObjectStore::FaultyObjectStore;
    bool may_repeat() const override { return false; }
  };
  const auto store =
      std::make_shared<Once>(MakeStore(Completion::kInline), [](const CallPoint& point) {
        return point.operation == "CompleteMultipartUpload"
                   ? std::optional(MakeFault(ErrorKind::kUnavailable))
                   : std::nullopt;
      });
  MultipartUpload upload(store, kBucket, kKey, {});
  const Bytes content = MakeContent(10);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(store->count("CompleteMultipartUpload"), 1u);
}

TEST(MultipartUploadLimits, PartsInFlightAreBoundedByMemory) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<StuckParts>(inner);
  UploadOptions options;
  options.max_parallel_parts = 2;
  options.part_size_bytes = 10;
  MultipartUpload upload(store, kBucket, kKey, options);
  const auto held = [](std::size_t size) {
    PartBody part(size);
    part.AddHeap(size);
    part.Append(MakeContent(size));
    return part;
  };
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(held(15), {}).ok());
  EXPECT_FALSE(upload.Send(held(15), [] { return true; }).ok());
  EXPECT_EQ(store->held(), 1u);
}

TEST(MultipartUploadLimits, ReportsThePartErrorInsteadOfCancellations) {
  // Regression test: a rejected part cancelled the other parts, and the upload reported "cancelled"
  // instead of the rejection.
  class SecondRefused final : public FaultyObjectStore {
   public:
    explicit SecondRefused(std::shared_ptr<ObjectStore> inner)
        : FaultyObjectStore(inner, nullptr), stuck_(std::move(inner)) {}
    void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
      if (request.part_number == 1) return stuck_.Start(std::move(request), std::move(done));
      done(Error::Make(ErrorKind::kAccessDenied, "planted"));
    }

   private:
    StuckParts stuck_;
  };
  MultipartUpload upload(std::make_shared<SecondRefused>(MakeStore()), kBucket, kKey, {});
  const Bytes content = MakeContent(10);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Complete({}).error().kind, ErrorKind::kAccessDenied);
}

TEST(MultipartUploadLimits, CompleteIsInterruptible) {
  const auto inner = MakeStore();
  MultipartUpload upload(std::make_shared<StuckParts>(inner), kBucket, kKey, {});
  const Bytes content = MakeContent(10);
  ASSERT_TRUE(upload.Create({}).ok());
  ASSERT_TRUE(upload.Send(PartBody::Of(content), {}).ok());
  EXPECT_EQ(upload.Complete([] { return true; }).error().kind, ErrorKind::kCancelled);
  EXPECT_FALSE(Stored(*inner).has_value());
}

}  // namespace
}  // namespace penstock::transfer
