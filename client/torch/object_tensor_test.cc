#include "client/torch/object_tensor.h"

#include <gtest/gtest.h>

#include "client/torch/torch_test_support.h"
#include "client/transfer/forked_child_test_support.h"
#include "client/transfer/held_store_test_support.h"
#include "penstock/base/blocking.h"

namespace penstock::torch {
namespace {

TEST(ObjectTensor, HoldsTheBytesOnCpuAsUint8) {
  const auto store = MakeStore();
  Put(store, "k", "hello");
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  const auto example = object.Take();
  ASSERT_TRUE(example.ok());
  EXPECT_EQ(Text(example->data), "hello");
  EXPECT_EQ(example->data.dtype(), at::kByte);
  EXPECT_TRUE(example->data.device().is_cpu());
  EXPECT_EQ(example->data.dim(), 1);
  EXPECT_EQ(example->target, "k");
}

TEST(ObjectTensor, EmptyObjectIsAnEmptyTensor) {
  const auto store = MakeStore();
  Put(store, "k", "");
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  EXPECT_EQ(object.Take().value().data.numel(), 0);
}

TEST(ObjectTensor, MissingObjectIsAnError) {
  const auto store = MakeStore();
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  EXPECT_EQ(object.Take().error().code, "NoSuchKey");
}

TEST(ObjectTensor, DestructionCancelsAndWaitsForTheDownload) {
  const auto store = MakeStore();
  Put(store, "k", std::string(1 << 20, 'x'));
  for (int i = 0; i < 20; ++i) ObjectTensor(store, kBucket, ObjectKey("k"), {});
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  EXPECT_TRUE(object.Take().ok());
}

// The constructor would wait for its own thread.
TEST(ObjectTensor, IsRejectedOnAnIoThread) {
  const auto store = MakeStore();
  Put(store, "k", "hello");
  const IoThreadScope io_thread;
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  EXPECT_EQ(object.Take().error().kind, ErrorKind::kInvalidArgument);
}

// Created before on another thread: Take returns an error on an I/O thread and works elsewhere.
TEST(ObjectTensor, TakeIsRejectedOnAnIoThread) {
  const auto store = MakeStore();
  Put(store, "k", "hello");
  ObjectTensor object(store, kBucket, ObjectKey("k"), {});
  {
    const IoThreadScope io_thread;
    EXPECT_EQ(object.Take().error().kind, ErrorKind::kInvalidArgument);
  }
  EXPECT_EQ(Text(object.Take().value().data), "hello");
}

TEST(ObjectTensor, InAForkedChildTakeFailsAndDestructionDoesNotWait) {
  const auto inner = MakeStore();
  Put(inner, "k", "hello");
  const auto store = std::make_shared<transfer::HeldStore>(inner);
  auto object = std::make_unique<ObjectTensor>(store, kBucket, ObjectKey("k"), DownloadOptions{});
  ASSERT_GT(store->held(), 0u);
  EXPECT_EQ(transfer::StatusOfChild([&] {
              const bool refused = transfer::MentionsFork(object->Take().error());
              object.reset();
              return refused ? 0 : 1;
            }),
            0);
  store->Release();
  EXPECT_EQ(Text(object->Take().value().data), "hello");
}

TEST(ObjectTensor, DestructionOnAnIoThreadDoesNotWait) {
  const auto inner = MakeStore();
  Put(inner, "k", "hello");
  const auto store = std::make_shared<transfer::HeldStore>(inner);
  auto object = std::make_unique<ObjectTensor>(store, kBucket, ObjectKey("k"), DownloadOptions{});
  ASSERT_GT(store->held(), 0u);
  {
    const IoThreadScope io_thread;
    object.reset();
  }
  store->Release();
}

}  // namespace
}  // namespace penstock::torch
