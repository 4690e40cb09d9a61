#include "client/checkpoint/load/item_load.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::CallPoint;
using penstock::testing::FaultyObjectStore;

// A tensor of int32 whose element i is i, in chunks of rows, each chunk in a file of its own.
class ItemLoadTest : public ::testing::Test {
 protected:
  void Save(Dimensions sizes, std::int64_t rows_per_chunk) {
    tensor_ = {"t", "int32", sizes, {}};
    all_.resize(Box{sizes, sizes}.elements());
    std::iota(all_.begin(), all_.end(), 0);
    const std::int64_t row = static_cast<std::int64_t>(all_.size()) / sizes[0];
    for (std::int64_t begin = 0; begin < sizes[0]; begin += rows_per_chunk) {
      DcpChunk chunk{{Dimensions(sizes.size()), sizes}, {}};
      chunk.box.offsets[0] = begin;
      chunk.box.lengths[0] = std::min(rows_per_chunk, sizes[0] - begin);
      const std::int64_t elements = chunk.box.elements();
      const std::string payload(reinterpret_cast<const char*>(all_.data() + begin * row),
                                elements * 4);
      const PickledTensor stored{"int32", chunk.box.lengths, RowMajorStrides(chunk.box.lengths), 0,
                                 "0",     payload.size()};
      PutItem(chunk, ItemArchive(stored, payload));
      tensor_.chunks.push_back(chunk);
    }
  }

  // Two items lie before and behind each item.
  void PutItem(DcpChunk& chunk, const std::string& item) {
    const std::string name = "__" + std::to_string(files_++) + "_0.distcp";
    chunk.place = {name, 100, item.size(), {}};
    last_item_ = item;
    Put(store_, "step-1/" + name, std::string(100, 'x') + item + std::string(100, 'y'));
  }

  // Loads a box into row-major memory and compares it with the elements.
  void ExpectLoads(const Box& box) {
    std::vector<std::int32_t> memory(std::max<std::int64_t>(box.elements(), 1), -1);
    const Dimensions strides = RowMajorStrides(box.lengths);
    const auto loaded = Load(box, {reinterpret_cast<std::byte*>(memory.data()), strides});
    ASSERT_TRUE(loaded.ok()) << loaded.error().message;
    const Dimensions stored = RowMajorStrides(tensor_.sizes);
    for (std::int64_t i = 0; i < box.elements(); ++i) {
      std::int64_t at = box.First(stored);
      for (std::size_t d = 0; d < strides.size(); ++d)
        at += i / strides[d] % box.lengths[d] * stored[d];
      ASSERT_EQ(memory[i], all_[at]) << i;
    }
  }

  Result<void> Load(const Box& box, const StridedMemory& memory) {
    PENSTOCK_ASSIGN(const std::vector<ItemRead> reads, PlanBox(tensor_, box, memory));
    return LoadItems(context_, {kBucket, "step-1/"}, reads);
  }
  Result<void> LoadAll() {
    loaded_.assign(all_.size(), -1);
    return Load({Dimensions(tensor_.sizes.size()), tensor_.sizes},
                {reinterpret_cast<std::byte*>(loaded_.data()), RowMajorStrides(tensor_.sizes)});
  }

  std::shared_ptr<FaultyObjectStore> store_ =
      std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  LoadContext context_{store_, {}, {}};
  DcpTensor tensor_;
  std::vector<std::int32_t> all_;
  std::vector<std::int32_t> loaded_;
  std::string last_item_;
  int files_ = 0;
};

TEST_F(ItemLoadTest, SmallTensorsOfAnyShardingAreLoadedInAnyBox) {
  Save({7, 5, 3}, 2);
  ExpectLoads({{0, 0, 0}, {7, 5, 3}});
  ExpectLoads({{1, 2, 1}, {5, 2, 1}});
  ExpectLoads({{6, 4, 2}, {1, 1, 1}});
  ExpectLoads({{3, 0, 0}, {0, 5, 3}});
}

TEST_F(ItemLoadTest, LargeTensorsAreLoadedInAnyBox) {
  Save({300, 2000}, 130);  // items of about 1 MiB
  ExpectLoads({{0, 0}, {300, 2000}});
  ExpectLoads({{100, 0}, {150, 2000}});  // rows: directly
  ExpectLoads({{0, 10}, {300, 1500}});   // long rows: directly
  ExpectLoads({{5, 10}, {280, 7}});      // short rows: through scratch memory
}

TEST_F(ItemLoadTest, RowsAreFetchedWithoutTheRestOfTheItem) {
  Save({4096, 1024}, 4096);  // 16 MiB
  RangeReaderOptions options;
  options.max_gap_bytes = 0;
  context_.ranges = options;
  std::uint64_t bytes = 0;
  context_.store = std::make_shared<FaultyObjectStore>(store_, [&](const CallPoint& call) {
    EXPECT_TRUE(call.range && call.range->begin && call.range->end);
    if (call.range) bytes += *call.range->end - *call.range->begin;
    return std::optional<penstock::testing::Fault>();
  });
  const std::uint64_t before = store_->count("GetObject");
  ExpectLoads({{4000, 0}, {10, 1024}});
  EXPECT_LE(store_->count("GetObject") - before, 6U);
  EXPECT_LE(bytes, (40 << 10) + 3 * 8192);  // the rows, and the ends of the item, twice
}

TEST_F(ItemLoadTest, ElementsGoToMemoryOfAnyStrides) {
  Save({40, 30}, 7);
  std::vector<std::int32_t> memory(40 * 30, -1);
  ASSERT_TRUE(
      Load({{0, 0}, {40, 30}}, {reinterpret_cast<std::byte*>(memory.data()), {1, 40}}).ok());
  for (int row = 0; row < 40; ++row) {
    for (int column = 0; column < 30; ++column)
      ASSERT_EQ(memory[column * 40 + row], row * 30 + column);
  }
}

TEST_F(ItemLoadTest, StoredTensorsOfOtherStridesAreRearranged) {
  for (const std::int64_t columns : {5, 4000}) {  // small: whole; large: predicted, then whole
    Save({100, columns}, 100);
    tensor_.chunks.resize(1);
    std::vector<std::int32_t> stored(all_.size());
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(all_.size()); ++i)
      stored[i % columns * 100 + i / columns] = all_[i];
    const std::string payload(reinterpret_cast<const char*>(stored.data()), stored.size() * 4);
    PutItem(tensor_.chunks[0],
            ItemArchive({"int32", {100, columns}, {1, 100}, 0, "0", payload.size()}, payload));
    ExpectLoads({{0, 0}, {100, columns}});
    ExpectLoads({{50, 1}, {50, 2}});
  }
}

TEST_F(ItemLoadTest, ADamagedItemIsDataLossAndNamed) {
  for (const Dimensions& sizes : {Dimensions{10, 10}, Dimensions{300, 300}}) {
    Save(sizes, sizes[0]);
    std::string damaged = last_item_;
    damaged[damaged.size() / 2] ^= 1;
    tensor_.chunks.resize(1);
    PutItem(tensor_.chunks[0], damaged);
    const auto loaded = LoadAll();
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(loaded.error().message.find("item 't': bytes 100"), std::string::npos);
    EXPECT_EQ(loaded.error().key, "step-1/" + tensor_.chunks[0].place.path);
  }
}

TEST_F(ItemLoadTest, EachFlippedBitIsFoundOrDoesNotMatter) {
  Save({3}, 3);
  const std::string item = last_item_;
  for (std::size_t at = 0; at < item.size(); ++at) {
    std::string damaged = item;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << at % 8));
    tensor_.chunks.resize(1);
    PutItem(tensor_.chunks[0], damaged);
    if (LoadAll().ok()) {
      ASSERT_EQ(loaded_, all_) << at;
    }
  }
}

TEST_F(ItemLoadTest, AnItemOfAnotherDtypeOrSizeIsRefused) {
  Save({10}, 10);
  tensor_.dtype = "float32";
  EXPECT_NE(LoadAll().error().message.find("dtype int32"), std::string::npos);
  tensor_.dtype = "float33";
  EXPECT_EQ(LoadAll().error().kind, ErrorKind::kUnsupported);
}

// The memory of each read has the size that its own chunk states.
TEST_F(ItemLoadTest, ChunksThatDifferMustNotNameOnePlace) {
  for (const std::int64_t elements : {100, 100'000}) {  // small: whole; large: in parts
    Save({elements}, elements);
    const DcpTensor& same = tensor_;
    const DcpPlace place = tensor_.chunks[0].place;
    DcpPlace longer = place;
    ++longer.length;
    const DcpTensor others[] = {
        {"other", "int16", {elements}, {{{{0}, {elements}}, place}}},
        {"other", "int32", {10}, {{{{0}, {10}}, place}}},
        {"other", "int32", {10, elements / 10}, {{{{0, 0}, {10, elements / 10}}, place}}},
        {"other", "int32", {elements}, {{{{0}, {elements}}, longer}}}};
    for (const DcpTensor& other : others) {
      for (const auto& [one, two] : {std::pair(&same, &other), std::pair(&other, &same)}) {
        std::vector<std::string> memory;
        std::vector<ItemRead> reads;
        for (const DcpTensor* const tensor : {one, two}) {
          const Box& box = tensor->chunks[0].box;
          const std::size_t item_bytes = tensor->dtype == "int16" ? 2 : 4;
          std::string& bytes =
              memory.emplace_back(static_cast<std::size_t>(box.elements()) * item_bytes, '\0');
          reads.push_back(
              {tensor,
               tensor->chunks.data(),
               box,
               {reinterpret_cast<std::byte*>(bytes.data()), RowMajorStrides(box.lengths)}});
        }
        const auto loaded = LoadItems(context_, {kBucket, "step-1/"}, reads);
        ASSERT_FALSE(loaded.ok());
        EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
        EXPECT_NE(loaded.error().message.find("two chunks name one place"), std::string::npos)
            << loaded.error().message;
      }
    }
  }
}

// Tied weights.
TEST_F(ItemLoadTest, EqualChunksMayNameOnePlace) {
  Save({100}, 100);
  DcpTensor tied = tensor_;
  tied.name = "tied";
  std::vector<std::int32_t> memory(200);
  std::vector<ItemRead> reads;
  for (const DcpTensor* const tensor : {&tensor_, &tied}) {
    reads.push_back({tensor,
                     tensor->chunks.data(),
                     {{0}, {100}},
                     {reinterpret_cast<std::byte*>(memory.data() + 100 * reads.size()), {1}}});
  }
  ASSERT_TRUE(LoadItems(context_, {kBucket, "step-1/"}, reads).ok());
  EXPECT_EQ(std::vector<std::int32_t>(memory.begin(), memory.begin() + 100), all_);
  EXPECT_EQ(std::vector<std::int32_t>(memory.begin() + 100, memory.end()), all_);
}

TEST_F(ItemLoadTest, ItemsWithExtensionsAreRefused) {
  Save({10}, 10);
  tensor_.chunks[0].place.transforms = "stream.zstd";
  EXPECT_NE(LoadAll().error().message.find("stream.zstd"), std::string::npos);
}

TEST_F(ItemLoadTest, AMissingObjectIsExplained) {
  Save({10}, 10);
  tensor_.chunks[0].place.path = "gone";
  const auto loaded = LoadAll();
  EXPECT_EQ(loaded.error().kind, ErrorKind::kNotFound);
  EXPECT_NE(loaded.error().message.find("the checkpoint names this object"), std::string::npos);
}

TEST_F(ItemLoadTest, AnItemBehindTheEndOfItsObjectIsDataLoss) {
  Save({10}, 10);
  tensor_.chunks[0].place.length += 1000;
  EXPECT_EQ(LoadAll().error().kind, ErrorKind::kDataLoss);
}

TEST_F(ItemLoadTest, ItemsBeforeTorch21HaveNoByteOrder) {
  for (const std::int64_t elements : {10, 100'000}) {
    Save({elements}, elements);
    const std::string payload(reinterpret_cast<const char*>(all_.data()), all_.size() * 4);
    ZipWriter zip;
    std::string item = zip.Record(
        "data.pkl", *WriteTensorPickle({"int32", {elements}, {1}, 0, "0", payload.size()}));
    item += zip.Record("data/0", payload);
    item += zip.Record("version", "3\n");
    item += zip.Finish();
    PutItem(tensor_.chunks[0], item);
    ExpectLoads({{0}, {elements}});
  }
}

// A place may have any length, and memory is needed for it before its object is known.
TEST_F(ItemLoadTest, OtherValuesAreReadInWindows) {
  Save({30}, 10);
  std::vector<DcpPlace> places;
  for (const DcpChunk& chunk : tensor_.chunks) places.push_back(chunk.place);
  const auto items = ReadItemBytes(context_, {kBucket, "step-1/"}, places, 1);
  ASSERT_TRUE(items.ok());
  EXPECT_EQ((*items)[2], last_item_);
  places[0].path = "gone";
  const std::uint64_t before = store_->count("GetObject");
  EXPECT_FALSE(ReadItemBytes(context_, {kBucket, "step-1/"}, places, 1).ok());
  EXPECT_EQ(store_->count("GetObject") - before, 1U);
}

TEST_F(ItemLoadTest, OtherValuesAreReadAsBytes) {
  Save({10}, 10);
  const auto items = ReadItemBytes(context_, {kBucket, "step-1/"}, {tensor_.chunks[0].place});
  ASSERT_TRUE(items.ok());
  EXPECT_EQ((*items)[0], last_item_);
}

// Columns of one tensor interleave in memory. They share no element, so none waits for another.
TEST_F(ItemLoadTest, ColumnsOfOneTensorAreReadByOneRequest) {
  const std::string payload = RandomBytes(20 * 30 * 4, 2);
  DcpTensor tensor{"t", "int32", {20, 90}, {}};
  std::string file;
  for (const std::int64_t column : {0, 30, 60}) {
    const std::string item = ItemArchive({"int32", {20, 30}, {30, 1}, 0, "0", 2400}, payload);
    tensor.chunks.push_back({{{0, column}, {20, 30}}, {"file", file.size(), item.size(), {}}});
    file += item;
  }
  Put(store_, "step-1/file", file);
  std::vector<std::int32_t> memory(20 * 90);
  const auto reads =
      PlanBox(tensor, {{0, 0}, {20, 90}}, {reinterpret_cast<std::byte*>(memory.data()), {90, 1}});
  ASSERT_TRUE(reads.ok());
  const auto loaded = LoadItems({store_, {}, {}}, {kBucket, "step-1/"}, *reads);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(store_->count("GetObject"), 1U);
  for (int row = 0; row < 20; ++row) {
    for (int column = 0; column < 90; column += 30) {
      EXPECT_EQ(std::memcmp(&memory[row * 90 + column], payload.data() + row * 120, 120), 0);
    }
  }
}

}  // namespace
}  // namespace penstock::checkpoint
