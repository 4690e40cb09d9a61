#include <atomic>
#include <utility>
#include <vector>

#include "client/checkpoint/pickle/dcp_metadata.h"
#include "client/torch/torch_checkpoint_test_support.h"
#include "penstock/base/log.h"

namespace penstock::torch {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;

Error S3Error(ErrorKind kind, int status, std::string code) {
  Error error = Error::Make(kind, "injected");
  error.http_status = status;
  error.code = std::move(code);
  return error;
}

const Error kConditionFailed =
    S3Error(ErrorKind::kPreconditionFailed, 412, "PreconditionFailed");  // NOLINT: may throw

class SaveDistributedTest : public TorchCheckpointTest {
 protected:
  // Saves through a store with faults.
  Result<void> Save(const StateDict& state, penstock::testing::FaultHook hook) {
    return SaveDistributed(std::make_shared<FaultyObjectStore>(store_, std::move(hook)),
                           "s3://data/step", state);
  }
  void ExpectStored(const StateDict& state) {
    const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
    const auto loaded = checkpoint->Load();
    ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
    ExpectEqual(loaded->tensors, state.tensors);
  }
  std::vector<std::string> Keys() {
    ListObjectsRequest list;
    list.bucket = BucketName("data");
    const auto listed = store_->Call(std::move(list));
    std::vector<std::string> keys;
    for (const auto& object : listed->objects) keys.push_back(object.key.value);
    return keys;
  }
  void Put(const std::string& key, const std::string& text) {
    PENSTOCK_CHECK(Upload(store_, BucketName("data"), ObjectKey(key), AsBytes(text), {}).ok());
  }
};

bool PutsMetadata(const CallPoint& point) {
  return point.operation == "PutObject" && point.key == "step/.metadata";
}

TEST_F(SaveDistributedTest, ADistributedCheckpointIsLoadedAsSavedAndReplaced) {
  StateDict state = Example();
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  state.tensors["weight"] = at::zeros({2, 2});
  const auto saved = SaveDistributed(store_, "s3://data/step/", state);
  ASSERT_TRUE(saved.ok()) << saved.error().ToString();
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  EXPECT_EQ(checkpoint->tensors().size(), 5U);
  const auto loaded = checkpoint->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  ExpectEqual(loaded->tensors, state.tensors);
  EXPECT_EQ(loaded->values, state.values);
  ListObjectsRequest list;
  list.bucket = BucketName("data");
  list.prefix = "step/";
  EXPECT_EQ(store_->Call(std::move(list))->objects.size(), 2U);  // .metadata and one shard
}

TEST_F(SaveDistributedTest, ASaveThatAnotherOneOvertakesLeavesTheOtherCheckpoint) {
  StateDict other;
  other.tensors["other"] = at::ones({3});
  bool overtaken = false;
  const auto overtaking = std::make_shared<FaultyObjectStore>(
      store_,
      [&](const penstock::testing::CallPoint& point) -> std::optional<penstock::testing::Fault> {
        if (point.key == "step/.metadata" && point.operation == "PutObject" &&
            !std::exchange(overtaken, true)) {
          PENSTOCK_CHECK(SaveDistributed(store_, "s3://data/step", other).ok());
        }
        return std::nullopt;
      });
  const auto saved = SaveDistributed(overtaking, "s3://data/step", Example());
  ASSERT_TRUE(overtaken);
  EXPECT_EQ(saved.error().kind, ErrorKind::kPreconditionFailed);
  const auto loaded = DistributedCheckpoint::Open(store_, "s3://data/step")->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  ExpectEqual(loaded->tensors, other.tensors);
  ListObjectsRequest list;
  list.bucket = BucketName("data");
  EXPECT_EQ(store_->Call(std::move(list))->objects.size(), 2U);
}

TEST_F(SaveDistributedTest, ASaveWhoseRequestWasAppliedTwiceIsPublished) {
  ASSERT_TRUE(Save(Example(), nullptr).ok());
  StateDict state;
  state.tensors["new"] = at::ones({3});
  const auto saved = Save(state, [](const CallPoint& point) -> std::optional<Fault> {
    if (!PutsMetadata(point)) return std::nullopt;
    return Fault{kConditionFailed, Fault::Moment::kAfter};
  });
  EXPECT_TRUE(saved.ok()) << saved.error().ToString();
  ExpectStored(state);
  EXPECT_EQ(Keys().size(), 2U);
}

const Error kInProgress =
    S3Error(ErrorKind::kConflict, 409, "ConditionalRequestConflict");  // NOLINT: may throw

TEST_F(SaveDistributedTest, TheMetadataIsSentAgainWhileAnotherRequestIsInProgress) {
  int requests = 0;
  const auto saved = Save(Example(), [&](const CallPoint& point) -> std::optional<Fault> {
    if (!PutsMetadata(point) || ++requests > 2) return std::nullopt;
    return Fault{kInProgress};
  });
  EXPECT_TRUE(saved.ok()) << saved.error().ToString();
  EXPECT_EQ(requests, 3);
  ExpectStored(Example());
}

TEST_F(SaveDistributedTest, AConflictThatStaysEndsTheSave) {
  int requests = 0;
  const auto saved = Save(Example(), [&](const CallPoint& point) -> std::optional<Fault> {
    if (!PutsMetadata(point)) return std::nullopt;
    ++requests;
    return Fault{kInProgress};
  });
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().code, "ConditionalRequestConflict");
  EXPECT_EQ(requests, 6);
}

TEST_F(SaveDistributedTest, AnInterruptEndsTheWaitForAnotherRequest) {
  std::atomic<int> requests = 0;
  const auto store = std::make_shared<FaultyObjectStore>(
      store_, [&](const CallPoint& point) -> std::optional<Fault> {
        if (!PutsMetadata(point)) return std::nullopt;
        ++requests;
        return Fault{kInProgress};
      });
  const auto saved =
      SaveDistributed(store, "s3://data/step", Example(), {}, [&] { return requests > 0; });
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(requests, 1);
}

// Symptom: an exception that does not derive from std::exception ended the process.
TEST_F(SaveDistributedTest, AnyExceptionOfAFilterIsAnError) {
  ASSERT_TRUE(Save(Example(), nullptr).ok());
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  LoadTensorsOptions options;
  options.filter = [](std::string_view) -> bool { throw 1; };
  const auto loaded = checkpoint->Load(options);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kInternal);
}

TEST_F(SaveDistributedTest, AShardThatTheMetadataMayNameIsKept) {
  bool put = false;
  const auto saved = Save(Example(), [&](const CallPoint& point) -> std::optional<Fault> {
    if (PutsMetadata(point)) {
      put = true;
      return Fault{kConditionFailed, Fault::Moment::kAfter};
    }
    if (put && point.key == "step/.metadata")
      return Fault{S3Error(ErrorKind::kAccessDenied, 403, "AccessDenied")};
    return std::nullopt;
  });
  EXPECT_EQ(saved.error().kind, ErrorKind::kPreconditionFailed);
  ExpectStored(Example());
}

TEST_F(SaveDistributedTest, ASaveWhoseOlderMetadataWasRemovedIsNotPublished) {
  ASSERT_TRUE(Save(Example(), nullptr).ok());
  const auto saved = Save(Example(), [&](const CallPoint& point) -> std::optional<Fault> {
    if (PutsMetadata(point)) {
      DeleteObjectRequest remove;
      remove.bucket = BucketName("data");
      remove.key = ObjectKey("step/.metadata");
      PENSTOCK_CHECK(store_->Call(std::move(remove)).ok());
    }
    return std::nullopt;
  });
  EXPECT_EQ(saved.error().kind, ErrorKind::kPreconditionFailed);
  EXPECT_EQ(Keys().size(), 1U);  // the shard of the first save
}

TEST_F(SaveDistributedTest, AServiceWithoutConditionalWritesGetsAPlainRequest) {
  int requests = 0;
  std::vector<std::string> lines;
  SetLogSink(LogLevel::kWarning, [&](LogLevel, const std::string& line) { lines.push_back(line); });
  const auto saved = Save(Example(), [&](const CallPoint& point) -> std::optional<Fault> {
    if (!PutsMetadata(point) || requests++ > 0) return std::nullopt;
    return Fault{S3Error(ErrorKind::kUnsupported, 501, "NotImplemented")};
  });
  SetLogSink(LogLevel::kOff, nullptr);
  EXPECT_TRUE(saved.ok()) << saved.error().ToString();
  EXPECT_EQ(requests, 2);
  ExpectStored(Example());
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("checkpoint.published_unconditionally"), std::string::npos) << lines[0];
}

TEST_F(SaveDistributedTest, OnlyShardsOfTheOlderCheckpointAreDeleted) {
  checkpoint::DcpMetadata older;
  for (const char* path : {".metadata", "notes.txt", "__0_0.distcp"}) {
    older.bytes.push_back({path, {path, 0, 1, {}}});
    Put("step/" + std::string(path), "x");
  }
  Put("step/.metadata", WriteDcpMetadata(older));
  ASSERT_TRUE(Save(Example(), nullptr).ok());
  ExpectStored(Example());
  const std::vector<std::string> keys = Keys();
  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[2], "step/notes.txt");
}

}  // namespace
}  // namespace penstock::torch
