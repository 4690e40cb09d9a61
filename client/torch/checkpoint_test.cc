#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/optim/adam.h>
#include <torch/serialize.h>

#include <stdexcept>
#include <string>

#include "client/torch/torch_test_support.h"

namespace penstock::torch {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::Fault;
using penstock::testing::FaultyObjectStore;

constexpr const char* kUri = "s3://data/checkpoints/1.pt";

bool Exists(ObjectStore& store) {
  HeadObjectRequest head;
  head.bucket = kBucket;
  head.key = ObjectKey("checkpoints/1.pt");
  return store.Call(std::move(head)).ok();
}

TEST(Checkpoint, LoadedTensorsAreEqual) {
  const auto store = MakeStore();
  const ::torch::Tensor weights = at::rand({300, 700});
  const auto saved = SaveCheckpoint(store, kUri, [&](::torch::serialize::OutputArchive& archive) {
    archive.write("weights", weights);
    archive.write("step", at::scalar_tensor(7));
  });
  ASSERT_TRUE(saved.ok()) << saved.error().ToString();
  auto archive = LoadCheckpoint(*store, kUri);
  ASSERT_TRUE(archive.ok()) << archive.error().ToString();
  ::torch::Tensor loaded;
  archive->read("weights", loaded);
  EXPECT_TRUE(at::equal(loaded, weights));
}

TEST(Checkpoint, LargeCheckpointsAreMultipartUploads) {
  const auto counting = std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  const ::torch::Tensor weights = at::rand({5 << 20});  // 20 MiB
  UploadOptions options;
  options.single_put_limit_bytes = options.min_part_size_bytes;
  options.part_size_bytes = 5 << 20;
  ::torch::serialize::OutputArchive archive;
  archive.write("weights", weights);
  ASSERT_TRUE(SaveCheckpoint(counting, kUri, archive, options).ok());
  EXPECT_GE(counting->count("UploadPart"), 3u);
  auto loaded = LoadCheckpoint(*counting, kUri);
  ASSERT_TRUE(loaded.ok());
  ::torch::Tensor again;
  loaded->read("weights", again);
  EXPECT_TRUE(at::equal(again, weights));
}

TEST(Checkpoint, ModelAndOptimizerResume) {
  const auto store = MakeStore();
  ::torch::nn::Linear model(4, 2);
  ::torch::optim::Adam optimizer(model->parameters());
  model->forward(at::ones({1, 4})).sum().backward();
  optimizer.step();
  ASSERT_TRUE(SaveTraining(store, kUri, *model, optimizer).ok());

  ::torch::nn::Linear other(4, 2);
  ::torch::optim::Adam other_optimizer(other->parameters());
  auto archive = LoadCheckpoint(*store, kUri);
  ASSERT_TRUE(archive.ok());
  ::torch::serialize::InputArchive part;
  archive->read("model", part);
  other->load(part);
  archive->read("optimizer", part);
  other_optimizer.load(part);
  EXPECT_TRUE(at::equal(other->weight, model->weight));
  EXPECT_EQ(other_optimizer.state().size(), optimizer.state().size());
}

TEST(Checkpoint, AFailedUploadIsAnErrorAndPublishesNothing) {
  const auto inner = MakeStore();
  const auto store = std::make_shared<FaultyObjectStore>(
      inner, [](const CallPoint& point) -> std::optional<Fault> {
        if (point.part_number != 2) return std::nullopt;
        return Fault{Error::Make(ErrorKind::kAccessDenied, "planted")};
      });
  UploadOptions options;
  options.single_put_limit_bytes = options.min_part_size_bytes;
  options.part_size_bytes = 5 << 20;
  const auto saved = SaveCheckpoint(
      store, kUri,
      [](::torch::serialize::OutputArchive& archive) {
        archive.write("weights", at::zeros({10 << 20}));
      },
      options);
  EXPECT_EQ(saved.error().kind, ErrorKind::kAccessDenied);
  EXPECT_FALSE(Exists(*inner));
}

TEST(Checkpoint, AnExceptionWhileFillingIsAnErrorAndPublishesNothing) {
  const auto store = MakeStore();
  const auto saved = SaveCheckpoint(store, kUri, [](::torch::serialize::OutputArchive&) {
    throw std::runtime_error("no state today");
  });
  ASSERT_FALSE(saved.ok());
  EXPECT_EQ(saved.error().kind, ErrorKind::kInternal);
  EXPECT_NE(saved.error().message.find("no state today"), std::string::npos);
  const auto unknown =
      SaveCheckpoint(store, kUri, [](::torch::serialize::OutputArchive&) { throw 1; });
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kInternal);
  EXPECT_FALSE(Exists(*store));
}

TEST(Checkpoint, AnInvalidArchiveIsDataLoss) {
  const auto store = MakeStore();
  Put(store, "checkpoints/1.pt", "this is not a zip file");
  EXPECT_EQ(LoadCheckpoint(*store, kUri).error().kind, ErrorKind::kDataLoss);
  Put(store, "checkpoints/1.pt", "");
  EXPECT_EQ(LoadCheckpoint(*store, kUri).error().kind, ErrorKind::kDataLoss);
}

TEST(Checkpoint, AFileOfAnotherFormatIsNamed) {
  const auto store = MakeStore();
  Put(store, "checkpoints/1.pt", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  const auto loaded = LoadCheckpoint(*store, kUri);
  EXPECT_EQ(loaded.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(loaded.error().message.find("use LoadSafetensors"), std::string::npos);
}

TEST(Checkpoint, AMissingObjectAndAnInvalidUriAreErrors) {
  const auto store = MakeStore();
  EXPECT_EQ(LoadCheckpoint(*store, kUri).error().code, "NoSuchKey");
  EXPECT_EQ(LoadCheckpoint(*store, "s3://data").error().kind, ErrorKind::kInvalidArgument);
  EXPECT_EQ(LoadCheckpoint(*store, "/local/file").error().kind, ErrorKind::kInvalidArgument);
}

}  // namespace
}  // namespace penstock::torch
