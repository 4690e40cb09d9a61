// What the requests of an upload carry: SSE-C keys, options and checksums.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "client/transfer/transfer_test_support.h"
#include "client/transfer/upload/multipart_upload.h"
#include "penstock/append_writer.h"
#include "penstock/base/mutex.h"

namespace penstock::transfer {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultHook;
using penstock::testing::FaultyObjectStore;

const BucketName kDirectory("data--usw2-az1--x-s3");

struct Seen {
  std::string operation;
  bool has_key = false;
  std::string checksum_algorithm;
  CallOptions options;
};

// Records the requests of uploads. Can refuse parts without a checksum, as a bucket with a default
// retention does.
class Recorder final : public FaultyObjectStore {
 public:
  Recorder(std::shared_ptr<ObjectStore> inner, FaultHook hook = nullptr)
      : FaultyObjectStore(std::move(inner), std::move(hook)) {}
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override {
    const bool key = !CustomerKeyOf(request.attributes.encryption).empty();
    Note({"CreateMultipartUpload", key, request.checksum_algorithm, request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(UploadPartRequest request, Callback<CompletedPart> done) override {
    Note(
        {"UploadPart", !request.customer_key.empty(), request.checksum_algorithm, request.options});
    if (needs_checksums && request.checksum_algorithm.empty()) return done(Refusal());
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(CompleteMultipartUploadRequest request, Callback<PutObjectResponse> done) override {
    Note({"CompleteMultipartUpload", !request.customer_key.empty(), request.checksum_algorithm,
          request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(AbortMultipartUploadRequest request, Callback<NoResponse> done) override {
    Note({"AbortMultipartUpload", false, "", request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(ListPartsRequest request, Callback<ListPartsResponse> done) override {
    Note({"ListParts", !request.customer_key.empty(), "", request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(HeadObjectRequest request, Callback<ObjectMetadata> done) override {
    Note({"HeadObject", !request.customer_key.empty(), "", request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    Note({"GetObject", !request.customer_key.empty(), "", request.options});
    FaultyObjectStore::Start(std::move(request), std::move(done));
  }
  using FaultyObjectStore::Start;

  std::vector<Seen> Requests(const std::string& operation) const {
    const MutexLock lock(mutex_);
    std::vector<Seen> found;
    for (const Seen& seen : seen_) {
      if (seen.operation == operation) found.push_back(seen);
    }
    return found;
  }

  bool needs_checksums = false;

 private:
  // Amazon S3's error for a bucket with a default retention.
  static Error Refusal() {
    Error error = Error::Make(ErrorKind::kInvalidArgument,
                              "Content-MD5 OR x-amz-checksum- HTTP header is required for Put Part "
                              "requests with Object Lock parameters");
    error.code = "InvalidRequest";
    error.http_status = 400;
    return error;
  }
  void Note(Seen seen) {
    const MutexLock lock(mutex_);
    seen_.push_back(std::move(seen));
  }

  mutable Mutex mutex_;
  std::vector<Seen> seen_ PENSTOCK_GUARDED_BY(mutex_);
};

// Lets the operation take effect, and loses its response.
FaultHook LoseResponse(const std::string& operation) {
  return [operation](const CallPoint& point) -> std::optional<Fault> {
    if (point.operation != operation) return std::nullopt;
    return MakeFault(ErrorKind::kTimeout, Fault::Moment::kAfter);
  };
}

UploadOptions WithKey() {
  UploadOptions options;
  options.attributes.encryption = CustomerKey::Create(AsBytes(std::string(32, 'k'))).value();
  return options;
}

Result<UploadResponse> UploadTwoParts(std::shared_ptr<ObjectStore> store, UploadOptions options) {
  const Bytes content = MakeContent(20);
  MultipartUpload upload(std::move(store), kBucket, kKey, std::move(options));
  PENSTOCK_TRY(upload.Create({}));
  for (const std::size_t at : {0u, 10u})
    PENSTOCK_TRY(upload.Send(PartBody::Of(ByteView(content).subspan(at, 10)), {}));
  return upload.Complete({});
}

// ---- SSE-C ----

void ExpectKey(const Recorder& store, const std::string& operation) {
  const auto seen = store.Requests(operation);
  EXPECT_FALSE(seen.empty()) << operation;
  for (const Seen& request : seen) EXPECT_TRUE(request.has_key) << operation;
}

TEST(UploadRequests, CarryTheCustomerKey) {
  const auto store =
      std::make_shared<Recorder>(MakeStore(), LoseResponse("CompleteMultipartUpload"));
  EXPECT_TRUE(UploadTwoParts(store, WithKey()).ok());
  for (const char* operation :
       {"CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "HeadObject"})
    ExpectKey(*store, operation);
}

TEST(UploadRequests, CarryTheCustomerKeyDuringTheRemoval) {
  const auto store = std::make_shared<Recorder>(MakeStore(), LoseResponse("UploadPart"));
  EXPECT_FALSE(UploadTwoParts(store, WithKey()).ok());
  ExpectKey(*store, "ListParts");
}

TEST(UploadRequests, CarryTheCustomerKeyAfterALostPut) {
  const auto store = std::make_shared<Recorder>(MakeStore(), LoseResponse("PutObject"));
  const Bytes content = MakeContent(20);
  EXPECT_TRUE(Upload(store, kBucket, kKey, content, WithKey()).ok());
  ExpectKey(*store, "HeadObject");
}

// ---- Options of cleanup requests ----

CallOptions OptionsOfCaller() {
  CallOptions options;
  options.expected_bucket_owner = "111122223333";
  options.requester_pays = true;
  options.extra_headers = {{"x-extra", "1"}};
  options.extra_query = {{"extra", "2"}};
  options.on_response = [](const ResponseInfo&) {};
  options.cancel = std::stop_source().get_token();
  return options;
}

void ExpectOptionsOfCaller(const ObjectStore& store, const std::string& operation) {
  const auto seen = dynamic_cast<const Recorder&>(store).Requests(operation);
  ASSERT_FALSE(seen.empty()) << operation;
  const CallOptions& options = seen.back().options;
  EXPECT_TRUE(options.requester_pays) << operation;
  EXPECT_EQ(options.expected_bucket_owner, "111122223333") << operation;
  EXPECT_EQ(options.extra_headers, OptionsOfCaller().extra_headers) << operation;
  EXPECT_EQ(options.extra_query, OptionsOfCaller().extra_query) << operation;
  EXPECT_FALSE(options.on_response) << operation;
  EXPECT_FALSE(options.cancel.stop_requested()) << operation;
  EXPECT_FALSE(options.deadline.IsNever()) << operation;
}

TEST(UploadRequests, CleanupHasTheOptionsOfTheCaller) {
  UploadOptions options;
  options.call = OptionsOfCaller();
  const auto part_lost = std::make_shared<Recorder>(MakeStore(), LoseResponse("UploadPart"));
  EXPECT_FALSE(UploadTwoParts(part_lost, options).ok());
  ExpectOptionsOfCaller(*part_lost, "AbortMultipartUpload");
  ExpectOptionsOfCaller(*part_lost, "ListParts");
  const auto complete_lost =
      std::make_shared<Recorder>(MakeStore(), LoseResponse("CompleteMultipartUpload"));
  EXPECT_TRUE(UploadTwoParts(complete_lost, options).ok());
  ExpectOptionsOfCaller(*complete_lost, "HeadObject");
  const auto put_lost = std::make_shared<Recorder>(MakeStore(), LoseResponse("PutObject"));
  const Bytes content = MakeContent(20);
  EXPECT_TRUE(Upload(put_lost, kBucket, kKey, content, options).ok());
  ExpectOptionsOfCaller(*put_lost, "HeadObject");
}

TEST(UploadRequests, LateRemovalHasTheOptionsOfTheCaller) {
  UploadOptions options;
  options.call = OptionsOfCaller();
  const auto store = std::make_shared<Recorder>(MakeStore(Completion::kInline));
  {
    MultipartUpload upload(store, kBucket, kKey, options);
    ASSERT_TRUE(upload.Create({}).ok());
    upload.Cancel(Error::Make(ErrorKind::kCancelled, "interrupted"));
  }
  ExpectOptionsOfCaller(*store, "AbortMultipartUpload");
}

TEST(UploadRequests, AppendWriterAsksForTheOutcomeWithTheOptionsOfTheCaller) {
  const auto inner = std::make_shared<penstock::testing::MemoryObjectStore>();
  ASSERT_TRUE(inner->Call(CreateBucketRequest{.bucket = kDirectory}).ok());
  const auto store = std::make_shared<Recorder>(inner, LoseResponse("PutObject"));
  auto writer = AppendWriter::Open(store, kDirectory, kKey, {.call = OptionsOfCaller()});
  ASSERT_TRUE(writer.ok());
  EXPECT_TRUE((*writer)->Append(MakeContent(10)).ok());
  ExpectOptionsOfCaller(*store, "HeadObject");
  ExpectOptionsOfCaller(*store, "GetObject");
}

// ---- Create after its caller ----

// Keeps CreateMultipartUpload in flight until Finish.
class HeldCreate final : public FaultyObjectStore {
 public:
  explicit HeldCreate(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}
  void Start(CreateMultipartUploadRequest request,
             Callback<CreateMultipartUploadResponse> done) override {
    const MutexLock lock(mutex_);
    held_ = [request, done] {
      request.options.on_response({});
      done(Error::Make(ErrorKind::kUnavailable, "planted"));
    };
  }
  using FaultyObjectStore::Start;
  void Finish() {
    const MutexLock lock(mutex_);
    std::exchange(held_, nullptr)();
  }

 private:
  Mutex mutex_;
  std::function<void()> held_ PENSTOCK_GUARDED_BY(mutex_);
};

TEST(UploadRequests, OnResponseDoesNotRunAfterAnInterruptedCreate) {
  int responses = 0;
  UploadOptions options;
  options.call.on_response = [&](const ResponseInfo&) { ++responses; };
  const auto store = std::make_shared<HeldCreate>(MakeStore(Completion::kInline));
  MultipartUpload upload(store, kBucket, kKey, options);
  EXPECT_EQ(upload.Create([] { return true; }).error().kind, ErrorKind::kCancelled);
  store->Finish();
  EXPECT_EQ(responses, 0);
  MultipartUpload waits(store, kBucket, kKey, options);
  // The interrupt is polled once the request has started.
  const auto finish = [&, finished = false]() mutable {
    if (!std::exchange(finished, true)) store->Finish();
    return false;
  };
  EXPECT_EQ(waits.Create(finish).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(responses, 1);
}

TEST(UploadRequests, ExceptionOfTheInterruptIsTheError) {
  const auto throws = []() -> bool { throw std::runtime_error("planted"); };
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<HeldCreate>(inner);
  MultipartUpload upload(store, kBucket, kKey, UploadOptions{.call = OptionsOfCaller()});
  const Result<void> created = upload.Create(throws);
  ASSERT_FALSE(created.ok());
  EXPECT_EQ(created.error().kind, ErrorKind::kInternal);
  EXPECT_NE(created.error().message.find("planted"), std::string::npos);
  store->Finish();
}

// ---- Object Lock ----

UploadOptions WithLegalHold() {
  UploadOptions options;
  options.attributes.lock.legal_hold = true;
  return options;
}

TEST(UploadRequests, PartsOfALockedObjectHaveChecksums) {
  const auto store = std::make_shared<Recorder>(MakeStore());
  EXPECT_TRUE(UploadTwoParts(store, WithLegalHold()).ok());
  for (const char* operation : {"CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload"}) {
    for (const Seen& seen : store->Requests(operation))
      EXPECT_EQ(seen.checksum_algorithm, "crc64nvme") << operation;
  }
  const auto unlocked = std::make_shared<Recorder>(MakeStore());
  EXPECT_TRUE(UploadTwoParts(unlocked, {}).ok());
  for (const Seen& seen : unlocked->Requests("UploadPart")) EXPECT_EQ(seen.checksum_algorithm, "");
}

TEST(UploadRequests, PartIsSentAgainWithAChecksumIfTheBucketLocksObjects) {
  const auto inner = MakeStore(Completion::kInline);
  const auto store = std::make_shared<Recorder>(inner);
  store->needs_checksums = true;
  const auto done = UploadTwoParts(store, {});
  ASSERT_TRUE(done.ok()) << done.error().ToString();
  const auto parts = store->Requests("UploadPart");
  ASSERT_EQ(parts.size(), 3u) << "only the first part is refused";
  EXPECT_EQ(parts[0].checksum_algorithm, "");
  EXPECT_EQ(parts[1].checksum_algorithm, "crc64nvme");
  EXPECT_EQ(parts[2].checksum_algorithm, "crc64nvme");
  EXPECT_EQ(Stored(*inner), MakeContent(20));
}

}  // namespace
}  // namespace penstock::transfer
