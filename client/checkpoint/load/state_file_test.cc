#include "client/checkpoint/load/state_file.h"

#include <gtest/gtest.h>

#include "base/crc/crc.h"
#include "client/checkpoint/load/checkpoint_test_support.h"
#include "penstock/testing/faulty_object_store.h"

namespace penstock::checkpoint {
namespace {

using penstock::testing::FaultyObjectStore;

class StateFileTest : public ::testing::Test {
 protected:
  // Two storages; "a" and "view" share the first one.
  std::string Example(std::size_t second_bytes = 100'000) {
    first_ = RandomBytes(4000, 1);
    second_ = RandomBytes(second_bytes, 2);
    const SavedState state{
        {{"a", {"float32", {1000}, {1}, 0, "0", 4000}},
         {"view", {"float32", {10, 2}, {1, 10}, 5, "0", 4000}},
         {"b", {"uint8", {static_cast<std::int64_t>(second_bytes)}, {1}, 0, "1", second_bytes}}},
        {{"step", std::int64_t{7}}}};
    return Archive(*WriteStatePickle(state), {{"0", first_}, {"1", second_}});
  }
  Result<StateFile> Open(const NameFilter& filter = {}) {
    return StateFile::Open(context_, kBucket, ObjectKey("file"), filter);
  }

  std::shared_ptr<FaultyObjectStore> store_ =
      std::make_shared<FaultyObjectStore>(MakeStore(), nullptr);
  LoadContext context_{store_, {}, {}};
  std::string first_;
  std::string second_;
};

TEST_F(StateFileTest, StoragesAreReadIntoMemory) {
  for (const std::size_t bytes : {1000, 1'000'000}) {
    Put(store_, "file", Example(bytes));
    const auto file = Open();
    ASSERT_TRUE(file.ok()) << file.error().message;
    EXPECT_EQ(file->state().tensors.size(), 3U);
    EXPECT_EQ(file->state().values[0].first, "step");
    std::string first(4000, '\0');
    std::string second(bytes, '\0');
    const auto read = file->Read(context_, {{"0", Bytes(first)}, {"1", Bytes(second)}});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(first, first_);
    EXPECT_EQ(second, second_);
  }
}

TEST_F(StateFileTest, OnlyTheWantedStoragesAreFetched) {
  Put(store_, "file", Example(50 << 20));
  const auto file = Open([](std::string_view name) { return name == "a"; });
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->state().tensors.size(), 1U);
  std::string first(4000, '\0');
  ASSERT_TRUE(file->Read(context_, {{"0", Bytes(first)}}).ok());
  EXPECT_EQ(first, first_);
  EXPECT_LE(store_->count("GetObject"), 3U);
}

TEST_F(StateFileTest, ADamagedStorageIsDataLossAndNamed) {
  std::string file = Example();
  file[file.find(second_) + 500] ^= 1;
  Put(store_, "file", file);
  const auto opened = Open();
  std::string second(second_.size(), '\0');
  const auto read = opened->Read(context_, {{"1", Bytes(second)}});
  EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(read.error().message.find("'data/1' has the CRC-32"), std::string::npos);
  EXPECT_EQ(read.error().key, "file");
}

// Sets the CRC-32 of a record to 0 in the directory, and, if `everywhere`, behind its content too.
void EraseCrc(std::string& file, std::string_view content, bool everywhere) {
  std::string crc;
  for (int shift = 0; shift < 32; shift += 8)
    crc += static_cast<char>(Crc32(AsBytes(content)) >> shift);
  file.replace(file.rfind(crc), crc.size(), crc.size(), '\0');
  if (everywhere) file.replace(file.find(crc), crc.size(), crc.size(), '\0');
}

TEST_F(StateFileTest, AStorageSavedWithoutACrcIsNotCompared) {
  std::string file = Example();
  EraseCrc(file, second_, true);
  const std::size_t at = file.find(second_) + 500;
  file[at] ^= 1;
  Put(store_, "file", file);
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::string second(second_.size(), '\0');
  const auto read = opened->Read(context_, {{"1", Bytes(second)}});
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(second[500], static_cast<char>(second_[500] ^ 1));
}

TEST_F(StateFileTest, ACrcOfAStorageThatOnlyTheDirectoryLacksIsDataLoss) {
  std::string file = Example();
  EraseCrc(file, second_, false);
  Put(store_, "file", file);
  const auto opened = Open();
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  std::string second(second_.size(), '\0');
  const auto read = opened->Read(context_, {{"1", Bytes(second)}});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(read.error().message.find("'data/1' has no CRC-32 in the directory"), std::string::npos)
      << read.error().message;
}

// The offset of the content is not the predicted one, so it is read twice.
TEST_F(StateFileTest, CrcsAreFoundBehindContentsAtOtherOffsets) {
  for (const bool everywhere : {true, false}) {
    ZipWriter zip;
    const std::string content = RandomBytes(300, 3);
    const SavedState state{{{"a", {"uint8", {300}, {1}, 0, "0", 300}}}, {}};
    std::string file = zip.Record("data.pkl", *WriteStatePickle(state));
    file += zip.Record(".storage_alignment", "4096");  // the writer aligns to 64
    file += zip.Record("data/0", content);
    file += zip.Finish();
    EraseCrc(file, content, everywhere);
    Put(store_, "file", file);
    const auto opened = Open();
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    std::string read(300, '\0');
    EXPECT_EQ(opened->Read(context_, {{"0", Bytes(read)}}).ok(), everywhere);
    if (everywhere) {
      EXPECT_EQ(read, content);
    }
  }
}

TEST_F(StateFileTest, ACrcOfThePickleThatOnlyTheDirectoryLacksIsDataLoss) {
  const std::string pickle = *WriteStatePickle({{}, {{"step", std::int64_t{7}}}});
  for (const bool everywhere : {true, false}) {
    std::string file = Archive(pickle, {});
    EraseCrc(file, pickle, everywhere);
    Put(store_, "file", file);
    const auto opened = Open();
    ASSERT_EQ(opened.ok(), everywhere);
    if (!everywhere) {
      EXPECT_NE(opened.error().message.find("'data.pkl' has no CRC-32"), std::string::npos);
    }
  }
}

TEST_F(StateFileTest, AReplacedObjectIsAPreconditionFailure) {
  Put(store_, "file", Example());
  const auto file = Open();
  Put(store_, "file", Example(2000));
  std::string first(4000, '\0');
  EXPECT_EQ(file->Read(context_, {{"0", Bytes(first)}}).error().kind,
            ErrorKind::kPreconditionFailed);
}

TEST_F(StateFileTest, OtherFilesAreNamedAndNotCalledCorrupt) {
  ZipWriter zip;
  std::string script = zip.Record("data.pkl", "x");
  script += zip.Record("constants.pkl", "y");
  script += zip.Finish();
  for (const auto& [text, expected] : std::map<std::string, std::string>{
           {script, "TorchScript"},
           {std::string("\x02\0\0\0\0\0\0\0{}", 10), "safetensors"},
           {"\x80\x04\x95torch.distributed.checkpoint.metadata", "distributed checkpoint"},
           {"", "empty"}}) {
    Put(store_, "file", text);
    const auto file = Open();
    ASSERT_FALSE(file.ok()) << expected;
    EXPECT_EQ(file.error().kind, ErrorKind::kUnsupported);
    EXPECT_NE(file.error().message.find(expected), std::string::npos) << file.error().message;
    EXPECT_EQ(file.error().message.find("corrupt"), std::string::npos);
  }
}

TEST_F(StateFileTest, ATruncatedFileIsDataLoss) {
  const std::string file = Example();
  Put(store_, "file", file.substr(0, file.size() / 2));
  EXPECT_EQ(Open().error().kind, ErrorKind::kDataLoss);
}

TEST_F(StateFileTest, RecordsWithSettingsAreShort) {
  for (const std::string name : {"byteorder", ".storage_alignment"}) {
    ZipWriter zip;
    std::string file = zip.Record("data.pkl", *WriteStatePickle({}));
    file += zip.Record(name, std::string(65, ' '));
    file += zip.Finish();
    Put(store_, "file", file);
    const auto opened = Open();
    ASSERT_FALSE(opened.ok()) << name;
    EXPECT_EQ(opened.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(opened.error().message.find("65 bytes"), std::string::npos) << opened.error().message;
  }
}

TEST_F(StateFileTest, TensorsMustBeWithinTheirStorages) {
  const SavedState state{{{"a", {"float32", {1001}, {1}, 0, "0", 4000}}}, {}};
  Put(store_, "file", Archive(*WriteStatePickle(state), {{"0", RandomBytes(4000, 1)}}));
  EXPECT_NE(Open().error().message.find("'a' are not within its storage"), std::string::npos);
  const SavedState missing{{{"a", {"float32", {1}, {1}, 0, "9", 4}}}, {}};
  Put(store_, "file", Archive(*WriteStatePickle(missing), {{"0", "1234"}}));
  EXPECT_EQ(Open().error().kind, ErrorKind::kDataLoss);
}

TEST_F(StateFileTest, FilesInMemoryHaveViewsOfTheirStorages) {
  const std::string file = Example();
  const auto state = ReadStateArchive(file, {}, "prefix");
  ASSERT_TRUE(state.ok()) << state.error().message;
  EXPECT_EQ(state->state.tensors[0].name, "prefix.a");
  EXPECT_EQ(state->storages[0], first_);
  EXPECT_EQ(state->storages[2], second_);
}

}  // namespace
}  // namespace penstock::checkpoint
