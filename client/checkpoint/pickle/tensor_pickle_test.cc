#include <gtest/gtest.h>

#include <string>

#include "penstock/tensor_archive.h"

namespace penstock {
namespace {

using namespace std::string_literals;

// The pickle of torch.arange(5.) by torch 2.13. Other pickles are assembled from these pieces.
const std::string kBegin =
    "\x80\x02"s
    "ctorch._utils\n_rebuild_tensor_v2\nq\0"s;
const std::string kStorage =
    "((X\x07\0\0\0storageq\x01"s
    "ctorch\nFloatStorage\nq\x02X\x01\0\0\0000q\x03X\x03\0\0\0cpuq\x04K\x05tq\x05Q"s;
const std::string kLayout = "K\0K\x05\x85q\x06K\x01\x85q\x07\x89"s;
const std::string kHooks = "ccollections\nOrderedDict\nq\x08)Rq\t"s;
const std::string kEnd = "tq\nRq\x0b."s;

TEST(TensorPickleTest, ReadsAFloatTensor) {
  const auto tensor = ReadTensorPickle(kBegin + kStorage + kLayout + kHooks + kEnd);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(*tensor, (PickledTensor{"float32", {5}, {1}, 0, "0", 20}));
}

TEST(TensorPickleTest, ReadsADtypeWithoutItsOwnStorageType) {
  // The pickle of torch.zeros(2, 3, dtype=torch.float8_e4m3fn) by torch 2.13.
  const std::string pickle =
      "\x80\x02"s
      "ctorch._utils\n_rebuild_tensor_v3\nq\0((X\x07\0\0\0storageq\x01"s
      "ctorch.storage\nUntypedStorage\nq\x02X\x01\0\0\0000q\x03X\x03\0\0\0cpuq\x04K\x06tq\x05QK\0K\x02K\x03\x86q\x06"s
      "K\x03K\x01\x86q\x07\x89"s
      "ccollections\nOrderedDict\nq\x08)Rq\tctorch\nfloat8_e4m3fn\nq\ntq\x0bRq\x0c."s;
  const auto tensor = ReadTensorPickle(pickle);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(*tensor, (PickledTensor{"float8_e4m3fn", {2, 3}, {3, 1}, 0, "0", 6}));
}

TEST(TensorPickleTest, ReadsSizesOfEveryWidth) {
  const std::string layout =
      "M\x34\x12(J\x78\x56\x34\x12M\0\x01K\x07\x8a\x05\0\0\0\0\x01tq\x06(K\x01K\x01K\x01K\x01tq\x07\x88"s;
  const auto tensor = ReadTensorPickle(kBegin + kStorage + layout + kHooks + kEnd);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_EQ(tensor->storage_offset, 0x1234);
  EXPECT_EQ(tensor->sizes, (std::vector<std::int64_t>{0x12345678, 256, 7, std::int64_t{1} << 32}));
}

TEST(TensorPickleTest, ReadsAScalarAndMemoEntries) {
  const std::string layout = "K\0)h\x06\x89"s;  // the strides are memo entry 6
  EXPECT_FALSE(ReadTensorPickle(kBegin + kStorage + layout + kHooks + kEnd).has_value());
  const std::string remembered = "K\0)q\x06h\x06\x89"s;
  const auto tensor = ReadTensorPickle(kBegin + kStorage + remembered + kHooks + kEnd);
  ASSERT_TRUE(tensor.has_value());
  EXPECT_TRUE(tensor->sizes.empty());
  EXPECT_TRUE(tensor->strides.empty());
}

TEST(TensorPickleTest, RejectsTensorsWithAdditionalState) {
  // A seventh argument: a conjugated tensor, or a tensor with attributes.
  const std::string attributes = kHooks + "}q\x0c"s;
  EXPECT_FALSE(ReadTensorPickle(kBegin + kStorage + kLayout + attributes + kEnd).has_value());
  const std::string quantised =
      "\x80\x02"s
      "ctorch._utils\n_rebuild_qtensor\nq\0"s;
  EXPECT_FALSE(ReadTensorPickle(quantised + kStorage + kLayout + kHooks + kEnd).has_value());
  const std::string other =
      "\x80\x02"s
      "cos\nsystem\nq\0"s;
  EXPECT_FALSE(ReadTensorPickle(other + kStorage + kLayout + kHooks + kEnd).has_value());
  const std::string newer =
      "\x80\x06"s
      "ctorch._utils\n_rebuild_tensor_v2\nq\0"s;
  EXPECT_FALSE(ReadTensorPickle(newer + kStorage + kLayout + kHooks + kEnd).has_value());
  const std::string unknown =
      "((X\x07\0\0\0storageq\x01"s
      "ctorch\nQInt8Storage\nq\x02X\x01\0\0\0000q\x03X\x03\0\0\0cpuq\x04K\x05tq\x05Q"s;
  EXPECT_FALSE(ReadTensorPickle(kBegin + unknown + kLayout + kHooks + kEnd).has_value());
}

TEST(TensorPickleTest, RejectsNegativeNumbers) {
  const std::string layout = "J\xff\xff\xff\xffK\x05\x85q\x06K\x01\x85q\x07\x89"s;
  EXPECT_FALSE(ReadTensorPickle(kBegin + kStorage + layout + kHooks + kEnd).has_value());
}

TEST(TensorPickleTest, RejectsATensorWithoutOneStridePerSize) {
  const std::string one_stride = "K\0K\x05K\x01\x86q\x06K\x01\x85q\x07\x89"s;
  EXPECT_FALSE(ReadTensorPickle(kBegin + kStorage + one_stride + kHooks + kEnd).has_value());
  const std::string two_strides = "K\0K\x05\x85q\x06K\x01K\x01\x86q\x07\x89"s;
  EXPECT_FALSE(ReadTensorPickle(kBegin + kStorage + two_strides + kHooks + kEnd).has_value());
}

TEST(TensorPickleTest, NeverReadsPastTheEndOfADamagedPickle) {
  const std::string whole = kBegin + kStorage + kLayout + kHooks + kEnd;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadTensorPickle(std::string(whole, 0, size)).has_value()) << size;
  }
  EXPECT_FALSE(ReadTensorPickle(whole + ".").has_value());
  // For every change of one byte, the reader must return a result and not crash.
  int read = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int value = 0; value < 256; ++value) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(value);
      read += ReadTensorPickle(damaged).has_value() ? 1 : 0;
    }
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace penstock
