#include <optional>
#include <utility>

#include "client/checkpoint/load/checkpoint_object.h"
#include "client/checkpoint/pickle/dcp_metadata.h"
#include "client/torch/torch_checkpoint_test_support.h"

namespace penstock::torch {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;

const BucketName kBucket("data");

class LoadDistributedTest : public TorchCheckpointTest {
 protected:
  void Put(const std::string& key, const std::string& text) {
    PENSTOCK_CHECK(Upload(store_, kBucket, ObjectKey(key), AsBytes(text), {}).ok());
  }
  // Puts an item of a dict into an object of its own.
  void PutItem(const std::string& name, const StateDict& state) {
    const std::string path = name + ".distcp";
    const auto saved = SaveStateDict(store_, "s3://data/step/" + path, state);
    PENSTOCK_CHECK(saved.ok());
    metadata_.bytes.push_back({name, {path, 0, saved->bytes, {}}});
    Put("step/.metadata", WriteDcpMetadata(metadata_));
  }
  // Opens a checkpoint with a store that replaces its shard before the second read of it.
  DistributedCheckpoint OpenReplaced(const StateDict& state) {
    PENSTOCK_CHECK(SaveDistributed(store_, "s3://data/step", state).ok());
    auto reads = std::make_shared<int>(0);
    const auto replacing = std::make_shared<FaultyObjectStore>(
        store_, [this, reads](const CallPoint& point) -> std::optional<Fault> {
          if (point.operation == "GetObject" && point.key.ends_with(".distcp") && ++*reads == 2)
            Put(point.key, std::string(100'000, 'x'));
          return std::nullopt;
        });
    return DistributedCheckpoint::Open(replacing, "s3://data/step").value();
  }

  checkpoint::DcpMetadata metadata_;
};

TEST_F(LoadDistributedTest, BoxesGoToTensorsOfAnyDtypeAndStrides) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  const at::Tensor weight = state.tensors.at("weight");
  const at::Tensor box = weight.slice(0, 10, 30).slice(1, 100, 150);
  const at::Tensor plain = at::zeros({20, 50});
  const at::Tensor wider = at::zeros({20, 50}, at::kDouble).requires_grad_();
  const at::Tensor strided = at::zeros({50, 40}).t().slice(0, 0, 40, 2);
  const auto loaded = checkpoint->LoadInto(
      {{"weight", {10, 100}, plain}, {"weight", {10, 100}, wider}, {"weight", {10, 100}, strided}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_TRUE(at::equal(plain, box));
  EXPECT_TRUE(at::equal(wider.detach(), box.to(at::kDouble)));
  EXPECT_TRUE(at::equal(strided, box));
}

TEST_F(LoadDistributedTest, AFlippedBitOfRowsIsFound) {
  const StateDict state = Example();
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  ListObjectsRequest list;
  list.bucket = kBucket;
  const std::string key = store_->Call(std::move(list))->objects.at(1).key.value;
  const checkpoint::LoadContext context{store_, {}, {}};
  const auto object = checkpoint::CheckpointObject::Open(context, kBucket, ObjectKey(key), 1);
  ASSERT_TRUE(object.ok());
  auto shard = object->Read(context, 0, object->size());
  ASSERT_TRUE(shard.ok());
  const at::Tensor weight = state.tensors.at("weight");
  const std::string_view payload(static_cast<const char*>(weight.data_ptr()), weight.nbytes());
  shard->at(shard->find(payload) + 150 * 8000) ^= 4;
  Put(key, *shard);
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  const at::Tensor rows = at::zeros({20, 2000});
  EXPECT_TRUE(checkpoint->LoadInto({{"weight", {10, 0}, rows}}).ok());
  EXPECT_TRUE(at::equal(rows, weight.slice(0, 10, 30)));
  const auto loaded = checkpoint->LoadInto({{"weight", {140, 0}, rows}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(loaded.error().message.find("item 'weight': bytes "), std::string::npos)
      << loaded.error().message;

  const std::vector<TensorTarget> columns = {{"weight", {140, 0}, at::zeros({20, 1900})}};
  EXPECT_TRUE(checkpoint->LoadInto(columns).ok());
  EXPECT_EQ(checkpoint->LoadInto(columns, {.verify_all = true}).error().kind, ErrorKind::kDataLoss);
}

TEST_F(LoadDistributedTest, OneMemoryForTwoNamesHasTheLastOne) {
  StateDict state;
  state.tensors["a"] = at::ones({100'000});
  state.tensors["b"] = at::zeros({100'000});
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", state).ok());
  const at::Tensor memory = at::full({100'000}, 3.0);
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  ASSERT_TRUE(checkpoint->LoadInto({{"a", {}, memory}, {"b", {}, memory}}).ok());
  EXPECT_TRUE(at::equal(memory, state.tensors["b"]));
}

TEST_F(LoadDistributedTest, ErrorsNameWhatIsMissing) {
  ASSERT_TRUE(SaveDistributed(store_, "s3://data/step", Example()).ok());
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  EXPECT_EQ(checkpoint->LoadInto({{"nothing", {}, at::zeros({1})}}).error().kind,
            ErrorKind::kNotFound);
  EXPECT_EQ(checkpoint->LoadInto({{"weight", {}, at::zeros({1, 2001})}}).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_EQ(checkpoint->LoadInto({{"weight", {}, at::Tensor()}}).error().kind,
            ErrorKind::kInvalidArgument);
  EXPECT_NE(LoadStateDict(store_, "s3://data/step").error().message.find("DistributedCheckpoint"),
            std::string::npos);
}

TEST_F(LoadDistributedTest, AllReadsOfALoadHaveOneVersion) {
  StateDict state;
  state.tensors["a"] = at::ones({100});
  state.values["step"] = std::int64_t{3};
  const at::Tensor memory = at::zeros({100});
  // Two targets in one memory are read one after the other.
  EXPECT_EQ(OpenReplaced(state).LoadInto({{"a", {}, memory}, {"a", {}, memory}}).error().kind,
            ErrorKind::kPreconditionFailed);
  EXPECT_EQ(OpenReplaced(state).Load().error().kind, ErrorKind::kPreconditionFailed);
}

TEST_F(LoadDistributedTest, LaterLoadsReadTheVersionThatThenExists) {
  StateDict state;
  state.tensors["a"] = at::ones({100});
  const DistributedCheckpoint checkpoint = OpenReplaced(state);
  EXPECT_TRUE(checkpoint.Load().ok());
  EXPECT_NE(checkpoint.Load().error().kind, ErrorKind::kPreconditionFailed);
}

TEST_F(LoadDistributedTest, ItemsThatTheFilterRejectsCannotFailTheLoad) {
  StateDict nested;
  nested.values["k"] = std::int64_t{5};
  PutItem("x", nested);
  Put("step/text.distcp", "no archive");
  metadata_.bytes.push_back({"text", {"text.distcp", 0, 10, {}}});
  Put("step/.metadata", WriteDcpMetadata(metadata_));
  const auto checkpoint = DistributedCheckpoint::Open(store_, "s3://data/step");
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.error().ToString();
  LoadTensorsOptions options;
  options.filter = [](std::string_view name) { return name == "x.k"; };
  const auto loaded = checkpoint->Load(options);
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  EXPECT_EQ(loaded->values, (std::map<std::string, SavedValue>{{"x.k", std::int64_t{5}}}));
  options.filter = [](std::string_view name) { return name == "text"; };
  EXPECT_EQ(checkpoint->Load(options).error().kind, ErrorKind::kUnsupported);
}

TEST_F(LoadDistributedTest, EqualNamesOfTwoItemsAreAnError) {
  StateDict one;
  one.values["0.k"] = std::int64_t{1};
  StateDict other;
  other.values["k"] = std::int64_t{5};
  PutItem("x", one);
  PutItem("x.0", other);
  const auto loaded = DistributedCheckpoint::Open(store_, "s3://data/step")->Load();
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(loaded.error().message.find("'x.0.k'"), std::string::npos);
}

TEST_F(LoadDistributedTest, TensorsOfAnItemThatSharedAStorageShareItAgain) {
  StateDict state;
  state.tensors["all"] = Numbers(10);
  state.tensors["tail"] = state.tensors["all"].slice(0, 4, 10, 2);
  PutItem("x", state);
  const auto loaded = DistributedCheckpoint::Open(store_, "s3://data/step")->Load();
  ASSERT_TRUE(loaded.ok()) << loaded.error().ToString();
  loaded->tensors.at("x.all").fill_(1);
  EXPECT_TRUE(at::equal(loaded->tensors.at("x.tail"), at::ones({3})));
}

}  // namespace
}  // namespace penstock::torch
