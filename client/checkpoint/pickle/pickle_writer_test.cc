#include "client/checkpoint/pickle/pickle_writer.h"

#include <gtest/gtest.h>

#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/pickle.h"

namespace penstock::checkpoint {
namespace {

TEST(PickleWriterTest, IntegersOfEverySizeAreReadBack) {
  const std::vector<std::int64_t> numbers = {0,         1,         255,       256,       -1,
                                             INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 1LL << 32};
  PickleWriter writer;
  writer.Size(numbers);
  const std::string pickle = std::move(writer).Finish();
  const auto document = PickleDocument::Read(pickle);
  ASSERT_TRUE(document.ok());
  EXPECT_EQ(document->Integers(document->root()), numbers);
}

TEST(PickleWriterTest, BytesAreReadBack) {
  PickleWriter writer(3);
  const std::string bytes("\0\xff\n", 3);
  writer.Bytes(bytes);
  const std::string pickle = std::move(writer).Finish();
  EXPECT_TRUE(pickle.starts_with("\x80\x03"));
  const auto document = PickleDocument::Read(pickle);
  ASSERT_TRUE(document.ok()) << document.error().message;
  EXPECT_EQ(document->kind(document->root()), PickleKind::kBytes);
  EXPECT_EQ(document->at(document->root()).text, bytes);
}

TEST(PickleWriterTest, RepeatedNamesAreReferences) {
  PickleWriter writer;
  writer.Mark();
  for (int i = 0; i < 3; ++i) writer.Global("torch", "Size");
  writer.Tuple();
  const std::string pickle = std::move(writer).Finish();
  EXPECT_EQ(pickle.find("torch"), pickle.rfind("torch"));
  const auto document = PickleDocument::Read(pickle);
  for (const PickleId item : document->items(document->root()))
    EXPECT_EQ(document->at(item).text, "torch.Size");
}

TEST(PickleWriterTest, TensorsOfEveryDtypeAreReadBack) {
  for (const DtypeInfo& dtype : AllDtypes()) {
    const PickledTensor tensor{std::string(dtype.name), {2, 3}, {3, 1}, 1, "7",
                               8 * dtype.item_bytes};
    PickleWriter writer;
    writer.Tensor(tensor);
    EXPECT_EQ(ReadTensorPickle(std::move(writer).Finish()), tensor) << dtype.name;
  }
}

}  // namespace
}  // namespace penstock::checkpoint
