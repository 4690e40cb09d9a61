#include "client/checkpoint/pickle/dcp_metadata.h"

#include <gtest/gtest.h>

#include "client/checkpoint/pickle/pickle_writer.h"

namespace penstock::checkpoint {
namespace {

DcpMetadata Example() {
  DcpMetadata metadata;
  metadata.tensors.push_back(
      {"layer.weight",
       "bfloat16",
       {4, 6},
       {{{{0, 0}, {2, 6}}, {"__0_0.distcp", 0, 1500, {}}},
        {{{2, 0}, {2, 6}}, {"__1_0.distcp", 64, 1500, {}, {0, 0xfedcba98}}}}});
  metadata.tensors.push_back(
      {"scalar", "int64", {}, {{{{}, {}}, {"__0_0.distcp", 1500, 1400, {}}}}});
  metadata.bytes.push_back({"step", {"__0_0.distcp", 3000, 900, {}}});
  return metadata;
}

TEST(DcpMetadataTest, WhatIsWrittenIsReadBack) {
  const DcpMetadata metadata = Example();
  const auto read = ReadDcpMetadata(WriteDcpMetadata(metadata));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, metadata);
}

// CPython 3.11.2, for example, pickles a member of an enum as getattr(class, name).
TEST(DcpMetadataTest, AnEnumThatIsPickledByGetattrIsRead) {
  std::string pickle = WriteDcpMetadata(Example());
  const std::string enum_class = "ctorch.distributed.checkpoint.metadata\n_MEM_FORMAT_ENCODING\n";
  const std::size_t at = pickle.find(enum_class);
  ASSERT_NE(at, std::string::npos);
  const std::size_t arguments = at + enum_class.size() + 5;  // after the memo of the class
  ASSERT_EQ(pickle.substr(arguments, 5), std::string("(K\0tR", 5));
  pickle.replace(arguments, 4, std::string("X\x17\0\0\0TORCH_CONTIGUOUS_FORMAT\x86", 29));
  pickle.insert(at, "cbuiltins\ngetattr\n");
  const auto read = ReadDcpMetadata(pickle);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(*read, Example());
}

TEST(DcpMetadataTest, AnotherObjectIsNamed) {
  PickleWriter writer;
  writer.Global("argparse", "Namespace");
  writer.EmptyTuple();
  writer.NewObject();
  const auto read = ReadDcpMetadata(std::move(writer).Finish());
  EXPECT_EQ(read.error().kind, ErrorKind::kUnsupported);
  EXPECT_NE(read.error().message.find("argparse.Namespace"), std::string::npos);
}

TEST(DcpMetadataTest, ChunksMustBeWithinTheirTensorAndHaveAPlace) {
  DcpMetadata metadata = Example();
  metadata.tensors[0].chunks[1].box.lengths[0] = 3;
  EXPECT_NE(ReadDcpMetadata(WriteDcpMetadata(metadata)).error().message.find("the size [4, 6]"),
            std::string::npos);
  metadata = Example();
  metadata.tensors[0].chunks[0].place.path = "";
  EXPECT_EQ(ReadDcpMetadata(WriteDcpMetadata(metadata)).error().kind, ErrorKind::kDataLoss);
  std::string pickle = WriteDcpMetadata(Example());
  const std::size_t at = pickle.rfind("step");
  pickle.replace(at, 4, "sted");
  EXPECT_NE(ReadDcpMetadata(pickle).error().message.find("'step' has no place"), std::string::npos);
}

TEST(DcpMetadataTest, ItemsOfOneFileShareNoBytes) {
  DcpMetadata metadata = Example();
  metadata.tensors[1].chunks[0].place.begin = 1499;
  const auto read = ReadDcpMetadata(WriteDcpMetadata(metadata));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
  EXPECT_NE(read.error().message.find("'scalar' is at byte 1499 of '__0_0.distcp', and "
                                      "'layer.weight' is there to byte 1500"),
            std::string::npos)
      << read.error().message;
  metadata.tensors[1].chunks[0].place.length = 0;
  EXPECT_TRUE(ReadDcpMetadata(WriteDcpMetadata(metadata)).ok());
}

TEST(DcpMetadataTest, PlacesThatNoObjectHasAreRefused) {
  DcpMetadata metadata = Example();
  metadata.bytes[0].place.begin = 123456;
  metadata.bytes[0].place.length = 654321;
  const std::string pickle = WriteDcpMetadata(metadata);
  const std::string begin("J\x40\xe2\x01\0", 5);
  const std::string length("J\xf1\xfb\x09\0", 5);
  const std::string one("K\x01");
  struct Case {
    std::string begin;
    std::string length;
    std::string message;
  };
  const Case cases[] = {
      {begin, std::string("J\xfb\xff\xff\xff", 5), "-5 bytes from byte 123456"},
      {std::string("J\xff\xff\xff\xff", 5), length, "654321 bytes from byte -1"},
      {one, std::string("\x8a\x08\0\0\0\0\0\0\0\x40", 10), "4611686018427387904 bytes from byte 1"},
      {one, std::string("\x8a\x09\0\0\0\0\0\0\0\x80\0", 11),
       "0x8000000000000000 bytes from byte 1"},
      {one, std::string("\x8a\x09\0\0\0\0\0\0\0\0\xff", 11),
       "an int of more than 64 bits bytes from byte 1"},
      {std::string("N"), length, "654321 bytes from byte None"}};
  for (const Case& each : cases) {
    std::string changed = pickle;
    changed.replace(changed.find(begin), begin.size(), each.begin);
    changed.replace(changed.find(length), length.size(), each.length);
    const auto read = ReadDcpMetadata(changed);
    ASSERT_FALSE(read.ok()) << each.message;
    EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(read.error().message.find("'step' has " + each.message +
                                        " of '__0_0.distcp', but items are within bytes 0 to "
                                        "4611686018427387904 (2^62)"),
              std::string::npos)
        << read.error().message;
    EXPECT_NE(read.error().message.find("load another checkpoint"), std::string::npos);
  }
  metadata.bytes[0].place.path = std::string(1025, 'x');
  const auto read = ReadDcpMetadata(WriteDcpMetadata(metadata));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("has 1025 bytes, but names have 1 to 1024"),
            std::string::npos)
      << read.error().message;
}

TEST(DcpMetadataTest, ChecksumsAreBytesOfFourEach) {
  const std::string pickle = WriteDcpMetadata(Example());
  const std::string crcs("B\x08\0\0\0\0\0\0\0\x98\xba\xdc\xfe", 13);
  const std::size_t at = pickle.find(crcs);
  ASSERT_NE(at, std::string::npos);
  for (const std::string& other : {std::string("B\x03\0\0\0abc", 8), std::string("K\x08"),
                                   std::string("X\x04\0\0\0abcd", 9)}) {
    std::string changed = pickle;
    const auto read = ReadDcpMetadata(changed.replace(at, crcs.size(), other));
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kDataLoss);
    EXPECT_NE(read.error().message.find("'layer.weight' has checksums that are not bytes"),
              std::string::npos)
        << read.error().message;
  }
}

TEST(DcpMetadataTest, HugeSizesAreRefused) {
  DcpMetadata metadata = Example();
  metadata.tensors[0].sizes = {INT64_MAX, INT64_MAX};
  EXPECT_FALSE(ReadDcpMetadata(WriteDcpMetadata(metadata)).ok());
}

// Writes metadata whose tensors, or chunks, share values by the memo of pickles.
std::string SharedMetadata(std::size_t names, std::size_t sizes, std::size_t attributes) {
  constexpr std::string_view kModule = "torch.distributed.checkpoint.metadata";
  PickleWriter writer;
  const auto begin = [&](std::string_view name) {
    writer.Global(kModule, name);
    writer.EmptyTuple();
    writer.NewObject();
    writer.EmptyDict();
    writer.Mark();
  };
  begin("Metadata");
  writer.Text("state_dict_metadata");
  writer.EmptyDict();
  writer.Mark();
  writer.Text("0");
  begin("TensorStorageMetadata");
  for (std::size_t i = 0; i < attributes; ++i) {
    writer.Text("unknown" + std::to_string(i));
    writer.None();
  }
  writer.Text("properties");
  begin("TensorProperties");
  writer.Text("dtype");
  writer.Global("torch", std::string(100'000, 'd'));
  writer.SetItems();
  writer.Build();
  writer.Text("size");
  writer.Size(std::vector<std::int64_t>(sizes, 0));
  writer.Text("chunks");
  writer.EmptyList();
  writer.SetItems();
  writer.Build();
  std::string pickle = std::move(writer).Finish();
  pickle.back() = 'r';  // the tensor is the memo entry 5000
  const std::string entry("\x88\x13\0\0", 4);
  pickle += entry;
  for (std::size_t i = 1; i < names; ++i) {
    const std::string name = std::to_string(i);
    pickle += 'X';
    pickle += static_cast<char>(name.size());
    pickle += std::string(3, '\0') + name + 'j' + entry;
  }
  const auto text = [](const std::string& value) {
    return "X" + std::string(1, static_cast<char>(value.size())) + std::string(3, '\0') + value;
  };
  return pickle + "u" + text("storage_data") + "}ub.";
}

TEST(DcpMetadataTest, SharedValuesCannotExceedTheMemoryOfTheFile) {
  EXPECT_TRUE(ReadDcpMetadata(SharedMetadata(10, 64, 0)).ok());
  EXPECT_FALSE(ReadDcpMetadata(SharedMetadata(1, 65, 0)).ok());
  const auto shared = ReadDcpMetadata(SharedMetadata(20'000, 64, 0));  // 2 GB of dtypes
  ASSERT_FALSE(shared.ok());
  EXPECT_NE(shared.error().message.find("too often"), std::string::npos) << shared.error().message;
  EXPECT_FALSE(ReadDcpMetadata(SharedMetadata(10, 1, 1000)).ok());  // quadratic
}

TEST(DcpMetadataTest, NeverReadsPastTheEndOfDamagedMetadata) {
  const std::string pickle = WriteDcpMetadata(Example());
  for (std::size_t size = 0; size < pickle.size(); ++size)
    EXPECT_FALSE(ReadDcpMetadata(std::string(pickle, 0, size)).ok()) << size;
  for (std::size_t at = 0; at < pickle.size(); ++at) {
    for (const char value : {'\0', '\1', '\x7f', '\x80', '\xff'}) {
      std::string damaged = pickle;
      damaged[at] = value;
      (void)ReadDcpMetadata(damaged).ok();
    }
  }
}

}  // namespace
}  // namespace penstock::checkpoint
