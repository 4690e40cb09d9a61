// The engine compares pieces of tensors that are read in part.
#include <gtest/gtest.h>

#include <cstring>

#include "client/checkpoint/load/checkpoint_test_support.h"
#include "client/checkpoint/load/item_engine.h"
#include "client/checkpoint/piece_crcs.h"
#include "penstock/tensor_archive.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::FaultyObjectStore;
using Kind = LoadEvent::Kind;

// Changes a byte in memory after some of the requests that fetch it.
class DamagingStore final : public FaultyObjectStore {
 public:
  explicit DamagingStore(std::shared_ptr<ObjectStore> inner)
      : FaultyObjectStore(std::move(inner), nullptr) {}

  using FaultyObjectStore::Start;
  void Start(GetObjectRequest request, Callback<ObjectMetadata> done) override {
    etags.push_back(request.if_match.value_or(ETag()));
    const bool fetches = request.range && request.range->begin.value_or(0) <= offset &&
                         offset < request.range->end.value_or(0);
    auto damaging = [this, fetches, done = std::move(done)](Result<ObjectMetadata> result) {
      if (fetches && times > 0) {
        --times;
        *memory ^= std::byte{1};
      }
      done(std::move(result));
    };
    FaultyObjectStore::Start(std::move(request), std::move(damaging));
  }
  bool may_repeat() const override { return repeats; }

  std::byte* memory = nullptr;
  std::uint64_t offset = 0;  // of the byte, in the object
  int times = 0;
  bool repeats = true;
  std::vector<ETag> etags;
};

// A tensor of int32 in one item, whose pieces have CRC-32s.
class ItemPiecesTest : public ::testing::Test {
 protected:
  void Save(Dimensions sizes) {
    item_ = LoadItem();
    item_.name = "w";
    item_.bucket = kBucket;
    item_.key = ObjectKey("object");
    item_.begin = 10;
    item_.dtype = "int32";
    item_.item_bytes = 4;
    item_.sizes = sizes;
    payload_ = RandomBytes(static_cast<std::size_t>(Box{sizes, sizes}.elements()) * 4, 3);
    piece_bytes_ = PieceBytes(sizes, 4);
    item_.crc32s = ComputePieceCrcs(AsBytes(payload_), piece_bytes_).pieces;
    Store(payload_);
  }
  // Stores an item with these elements, and with the CRC-32 of the saved ones.
  void Store(const std::string& payload) {
    stored_ = payload;
    const auto strides = RowMajorStrides(item_.sizes);
    std::string archive =
        ItemArchive({"int32", item_.sizes, strides, 0, "0", payload_.size()}, payload_);
    payload_at_ = ReadTensorArchive({{}, 0, AsBytes(archive)})->payload_begin;
    archive.replace(payload_at_, payload.size(), payload);
    item_.length = archive.size();
    trailers_.Learn(payload_.size(), archive.size() - payload_at_ - payload_.size());
    Put(store_, "object", std::string(10, 'x') + archive + std::string(10, 'y'));
  }

  void StoreDamaged(std::size_t at) {
    std::string damaged = payload_;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    Store(damaged);
  }

  // Loads boxes, directly or in parts, and compares the elements unless the load fails.
  Result<void> Load(const std::vector<Box>& boxes, bool is_direct = true) {
    LoadItem item = item_;
    std::vector<std::string> memory;
    for (const Box& box : boxes)
      memory.emplace_back(static_cast<std::size_t>(box.elements()) * 4, '\0');
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      const StridedMemory to{Bytes(memory[i]).data(), RowMajorStrides(boxes[i].lengths)};
      item.reads.push_back({boxes[i], to, 4, {}, is_direct});
    }
    if (damaging_) {
      damaging_->memory = Bytes(memory[0]).data() + damaged_at_;
      damaging_->offset = 10 + payload_at_ + damaged_at_ +
                          boxes[0].First(RowMajorStrides(item_.sizes)) * std::uint64_t{4};
    }
    ItemEngine engine(context_, trailers_, limits_);
    PENSTOCK_TRY(engine.Add(0, item));
    while (!engine.is_idle()) {
      PENSTOCK_ASSIGN(const std::vector<LoadEvent> events, engine.Next(true));
      for (const LoadEvent& event : events) {
        EXPECT_NE(event.kind, Kind::kWhole);
        if (event.kind != Kind::kPart) continue;
        EXPECT_FALSE(is_direct);
        CopyPart(event, item.reads[event.reads[0]]);
      }
    }
    usage_ = engine.usage();
    for (std::size_t i = 0; i < boxes.size(); ++i) ExpectElements(boxes[i], memory[i]);
    return Ok();
  }
  static void CopyPart(const LoadEvent& part, const BoxRead& read) {
    const Dimensions strides = RowMajorStrides(part.box.lengths);
    Box wanted = part.wanted;
    Box in_read = part.wanted;
    for (std::size_t i = 0; i < strides.size(); ++i) {
      wanted.offsets[i] -= part.box.offsets[i];
      in_read.offsets[i] -= read.box.offsets[i];
    }
    CopyElements(wanted.lengths, 4,
                 part.scratch->bytes().data() + part.at + wanted.First(strides) * 4, strides,
                 read.memory.data + in_read.First(read.memory.strides) * 4, read.memory.strides);
  }
  void ExpectElements(const Box& box, const std::string& memory) const {
    const Dimensions strides = RowMajorStrides(item_.sizes);
    std::string expected(memory.size(), '\0');
    CopyElements(box.lengths, 4, AsBytes(stored_).data() + box.First(strides) * 4, strides,
                 Bytes(expected).data(), RowMajorStrides(box.lengths));
    EXPECT_TRUE(memory == expected);
  }
  // Whether a flipped bit at an offset of the payload is found, in an error that names its piece.
  bool Finds(std::size_t at, const std::vector<Box>& boxes, bool is_direct = true) {
    StoreDamaged(at);
    const auto loaded = Load(boxes, is_direct);
    if (loaded.ok()) return false;
    EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
    const std::uint64_t begin = 10 + payload_at_ + at - at % piece_bytes_;
    const std::string place = "item 'w': bytes " + std::to_string(begin) + " to ";
    EXPECT_NE(loaded.error().message.find(place), std::string::npos) << loaded.error().message;
    EXPECT_EQ(loaded.error().key, "object");
    return true;
  }
  // An offset in the middle of each piece.
  std::vector<std::size_t> Middles() const {
    std::vector<std::size_t> middles;
    for (std::size_t at = 0; at < payload_.size(); at += piece_bytes_)
      middles.push_back(at + std::min<std::size_t>(piece_bytes_, payload_.size() - at) / 2);
    return middles;
  }

  std::shared_ptr<FaultyObjectStore> store_ =
      std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  LoadContext context_{store_, {}, {}};
  std::shared_ptr<DamagingStore> damaging_;
  std::size_t damaged_at_ = 0;  // in the memory of the first box
  LearnedTrailers trailers_;
  EngineLimits limits_;
  LoadItem item_;
  std::string payload_;
  std::string stored_;
  std::uint64_t payload_at_ = 0;
  std::uint64_t piece_bytes_ = 0;
  EngineUsage usage_;
};

constexpr std::uint64_t kPiece = 128 << 10;

// 64 rows of 32 KiB: 16 pieces of 4 rows.
TEST_F(ItemPiecesTest, AFlippedBitOfEachPieceIsFoundInRows) {
  Save({64, 8192});
  ASSERT_EQ(piece_bytes_, kPiece);
  const Box rows{{16, 0}, {32, 8192}};  // pieces 4 to 11
  for (const bool is_direct : {true, false}) {
    ASSERT_TRUE(Load({rows}, is_direct).ok());
    for (const std::size_t at : Middles())
      EXPECT_EQ(Finds(at, {rows}, is_direct), at / kPiece >= 4 && at / kPiece < 12) << at;
    Store(payload_);
  }
}

TEST_F(ItemPiecesTest, WithoutChecksumsADamagedPieceLoads) {
  Save({64, 8192});
  item_.crc32s.clear();
  const Box rows{{16, 0}, {32, 8192}};
  EXPECT_FALSE(Finds(5 * kPiece, {rows}));
}

TEST_F(ItemPiecesTest, UnitsOfAnySizeGiveTheCrcsOfPieces) {
  Save({64, 8192});
  limits_.unit_bytes = 100'000;
  limits_.part_bytes = 100'000;
  const Box rows{{16, 0}, {32, 8192}};
  for (const bool is_direct : {true, false}) {
    Store(payload_);
    ASSERT_TRUE(Load({rows}, is_direct).ok());
    for (const std::size_t at : {4 * kPiece, 7 * kPiece + 99, 12 * kPiece - 1})
      EXPECT_TRUE(Finds(at, {rows}, is_direct)) << at;
  }
}

// 1,000 rows of 1 KiB: pieces of 125 rows. Short rows are read with the gaps between them.
TEST_F(ItemPiecesTest, AFlippedBitOfEachPieceIsFoundInColumnsOfShortRows) {
  Save({1000, 256});
  const Box columns{{0, 10}, {1000, 20}};
  for (const bool is_direct : {true, false}) {
    Store(payload_);
    ASSERT_TRUE(Load({columns}, is_direct).ok());
    for (const std::size_t at : Middles()) EXPECT_TRUE(Finds(at, {columns}, is_direct)) << at;
  }
}

// 2 rows of 4 MiB: pieces of 1 MiB. Rows are received directly, and half of each is two pieces.
// Two shards of columns need the same bytes.
TEST_F(ItemPiecesTest, RowsThatSeveralReadsShareAreReceivedOnce) {
  Save({1000, 256});
  limits_.part_bytes = 64 << 10;
  limits_.batch_bytes = 128 << 10;
  const std::vector<std::vector<Box>> shards = {
      {{{0, 0}, {1000, 128}}, {{0, 128}, {1000, 128}}},
      {{{0, 10}, {600, 20}}, {{500, 200}, {500, 50}}, {{300, 0}, {1, 1}}},
  };
  for (const std::vector<Box>& boxes : shards) {
    for (const bool is_direct : {true, false}) {
      Store(payload_);
      ASSERT_TRUE(Load(boxes, is_direct).ok());
      EXPECT_LT(usage_.ranges.bytes_wanted, payload_.size() + 8192);
      for (const std::size_t at : Middles()) EXPECT_TRUE(Finds(at, boxes, is_direct)) << at;
    }
  }
}

TEST_F(ItemPiecesTest, RowsFarFromEachOtherAreNotJoined) {
  Save({1000, 256});
  ASSERT_TRUE(Load({{{0, 0}, {100, 10}}, {{900, 0}, {100, 10}}}).ok());
  EXPECT_LT(usage_.ranges.bytes_wanted, payload_.size() * 2 / 3);
}

TEST_F(ItemPiecesTest, AllWantedBytesAreComparedIfAsked) {
  const std::vector<std::vector<Box>> all_boxes = {
      {{{17, 0}, {25, 8192}}},                         // rows
      {{{0, 10}, {64, 4000}}},                         // columns of long rows
      {{{0, 10}, {64, 20}}},                           // short rows with long gaps
      {{{8, 0}, {8, 4096}}, {{3, 4096}, {20, 4096}}},  // several
      {{{8, 0}, {8, 8192}}, {{10, 0}, {20, 8192}}},    // the same elements twice
      {{{0, 0}, {64, 8192}}},                          // the whole tensor
  };
  limits_.verifies_all = true;
  limits_.extra_bytes = 0;
  for (const bool has_pieces : {true, false}) {
    for (const std::vector<Box>& boxes : all_boxes) {
      Save({64, 8192});
      if (!has_pieces) item_.crc32s.clear();
      const auto first = static_cast<std::size_t>(boxes[0].First(RowMajorStrides(item_.sizes))) * 4;
      for (const bool is_direct : {true, false}) {
        Store(payload_);
        ASSERT_TRUE(Load(boxes, is_direct).ok());
        StoreDamaged(first);
        const auto loaded = Load(boxes, is_direct);
        ASSERT_FALSE(loaded.ok());
        EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
      }
    }
  }
}

TEST_F(ItemPiecesTest, NothingIsReadForNoElementsIfAllAreCompared) {
  Save({64, 8192});
  limits_.verifies_all = true;
  ASSERT_TRUE(Load({{{3, 0}, {0, 8192}}}).ok());
  EXPECT_LT(usage_.ranges.bytes_wanted, 8192U);
}

TEST_F(ItemPiecesTest, PiecesWithinLongRowsAreComparedInColumns) {
  Save({2, 1 << 20});
  ASSERT_EQ(piece_bytes_, kMaxPieceBytes);
  const Box columns{{0, 1 << 18}, {2, 1 << 19}};
  ASSERT_TRUE(Load({columns}).ok());
  for (const std::size_t at : {1 << 20, (6 << 20) - 1}) EXPECT_TRUE(Finds(at, {columns})) << at;
  EXPECT_FALSE(Finds(0, {columns}));
}

TEST_F(ItemPiecesTest, ColumnsOfSeveralReadsThatFillPiecesAreCompared) {
  Save({64, 8192});
  const std::vector<Box> halves = {{{8, 0}, {8, 4096}}, {{8, 4096}, {8, 4096}}};
  ASSERT_TRUE(Load(halves).ok());
  EXPECT_TRUE(Finds(2 * kPiece, halves));
  EXPECT_TRUE(Finds(4 * kPiece - 1, halves));
  EXPECT_FALSE(Finds(4 * kPiece, halves));
}

TEST_F(ItemPiecesTest, TheRestOfAPieceIsReadAndCompared) {
  Save({64, 8192});
  const Box rows{{17, 0}, {25, 8192}};  // of pieces 4 to 10
  for (const bool is_direct : {true, false}) {
    Store(payload_);
    ASSERT_TRUE(Load({rows}, is_direct).ok());
    EXPECT_GE(usage_.ranges.bytes_wanted, 7 * kPiece);
    EXPECT_LT(usage_.ranges.bytes_wanted, 7 * kPiece + 8192);
    for (const std::size_t at : {4 * kPiece, 4 * kPiece + 40'000, 11 * kPiece - 1})
      EXPECT_TRUE(Finds(at, {rows}, is_direct)) << at;
  }
}

TEST_F(ItemPiecesTest, TheRestIsReadWithinTheLimits) {
  Save({64, 8192});
  limits_.extra_bytes = 30'000;
  limits_.extra_share = 1 << 20;
  const Box rows{{17, 0}, {25, 8192}};  // lacks 32 KiB of piece 4, and 64 KiB of piece 10
  ASSERT_TRUE(Load({rows}).ok());
  EXPECT_LT(usage_.ranges.bytes_wanted, 25 * 32768 + 8192);
  EXPECT_FALSE(Finds(4 * kPiece + 40'000, {rows}));
  EXPECT_TRUE(Finds(5 * kPiece, {rows}));
  limits_.extra_bytes = 40'000;
  EXPECT_TRUE(Finds(4 * kPiece + 40'000, {rows}));
  EXPECT_FALSE(Finds(10 * kPiece, {rows}));
  limits_.extra_bytes = 0;
  limits_.extra_share = 10;  // of 800 KiB
  EXPECT_TRUE(Finds(4 * kPiece + 40'000, {rows}));
  EXPECT_FALSE(Finds(10 * kPiece, {rows}));
}

// A small tensor is one piece. Its archive has the checksum, also in files of other programs.
TEST_F(ItemPiecesTest, ASmallTensorNeedsNoChecksumsOfPieces) {
  Save({100, 100});
  item_.crc32s.clear();
  const Box rows{{17, 0}, {3, 100}};
  ASSERT_TRUE(Load({rows}).ok());
  StoreDamaged(39'999);
  const auto loaded = Load({rows});
  ASSERT_FALSE(loaded.ok());
  EXPECT_NE(loaded.error().message.find("item 'w': bytes 10 to "), std::string::npos)
      << loaded.error().message;
}

TEST_F(ItemPiecesTest, AWholeTensorIsComparedWithBothChecksums) {
  Save({64, 8192});
  const Box all{{0, 0}, {64, 8192}};
  ASSERT_TRUE(Load({all}).ok());
  EXPECT_TRUE(Finds(9 * kPiece, {all}));
  Store(payload_);
  ++item_.crc32s[3];  // the one of the archive matches
  EXPECT_FALSE(Load({all}).ok());
}

TEST_F(ItemPiecesTest, ADamagedItemIsReadOnceMore) {
  Save({64, 8192});
  limits_.extra_bytes = 100'000;  // for the rest of both pieces, once
  limits_.extra_share = 1 << 20;
  const Box rows{{17, 0}, {25, 8192}};
  damaging_ = std::make_shared<DamagingStore>(store_);
  context_.store = damaging_;
  for (const std::uint64_t unit_bytes : {18 << 20, 100'000}) {  // at once; in parts
    limits_.unit_bytes = unit_bytes;
    for (const std::size_t at : {0UL, 10UL * 32768, rows.elements() * 4UL - 1}) {
      damaged_at_ = at;
      damaging_->times = 1;
      damaging_->etags.clear();
      const auto loaded = Load({rows});
      ASSERT_TRUE(loaded.ok()) << loaded.error().message;
      EXPECT_EQ(damaging_->times, 0);
      EXPECT_FALSE(damaging_->etags.back().empty());
    }
  }
}

TEST_F(ItemPiecesTest, TheSecondDifferenceIsDataLoss) {
  Save({64, 8192});
  for (const Box& box : {Box{{16, 0}, {8, 8192}}, Box{{0, 0}, {64, 8192}}}) {
    StoreDamaged(5 * kPiece);
    const std::uint64_t before = store_->count("GetObject");
    const auto loaded = Load({box});
    ASSERT_FALSE(loaded.ok());
    EXPECT_NE(loaded.error().message.find(" in two reads, and were saved with "), std::string::npos)
        << loaded.error().message;
    const std::uint64_t twice = store_->count("GetObject") - before;
    damaging_ = std::make_shared<DamagingStore>(store_);
    damaging_->repeats = false;
    context_.store = damaging_;
    const auto once = Load({box});
    ASSERT_FALSE(once.ok());
    EXPECT_EQ(once.error().message.find("two reads"), std::string::npos);
    EXPECT_EQ((store_->count("GetObject") - before - twice) * 2, twice);
    context_.store = store_;
  }
}

TEST_F(ItemPiecesTest, AnotherNumberOfChecksumsIsRefused) {
  Save({64, 8192});
  item_.crc32s.pop_back();
  const auto loaded = Load({{{0, 0}, {1, 8192}}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(loaded.error().message.find("item 'w' has the checksums of 15 pieces, and its tensor "
                                        "has 16"),
            std::string::npos)
      << loaded.error().message;
}

}  // namespace
}  // namespace penstock::checkpoint
