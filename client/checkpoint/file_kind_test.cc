#include "client/checkpoint/file_kind.h"

#include <gtest/gtest.h>

namespace penstock::checkpoint {
namespace {

using namespace std::string_literals;

TEST(FileKindTest, IsFoundByTheFirstBytes) {
  EXPECT_EQ(KindOf(""), FileKind::kEmpty);
  EXPECT_EQ(KindOf("PK\3\4..."), FileKind::kZip);
  EXPECT_EQ(KindOf("\x02\0\0\0\0\0\0\0{}"s), FileKind::kSafetensors);
  EXPECT_EQ(KindOf(" {\"metadata\": {}, \"weight_map\": {}}"), FileKind::kSafetensorsIndex);
  EXPECT_EQ(KindOf("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80"s),
            FileKind::kLegacyTorchSave);
  EXPECT_EQ(KindOf("\x80\x04\x95\0\0\0\0\0\0\0\0\x8c\x25torch.distributed.checkpoint.metadata"s),
            FileKind::kDcpMetadata);
  EXPECT_EQ(KindOf("\x80\x04K\x01."), FileKind::kPickle);
  EXPECT_EQ(KindOf("\x93NUMPY\x01"), FileKind::kNumpy);
  EXPECT_EQ(KindOf("\x89HDF\r\n\x1a\n"), FileKind::kHdf5);
  EXPECT_EQ(KindOf("GGUF\3"), FileKind::kGguf);
  EXPECT_EQ(KindOf("\x1f\x8b\x08"), FileKind::kGzip);
  EXPECT_EQ(KindOf("<html>"), FileKind::kText);
  EXPECT_EQ(KindOf("\1\2\3"), FileKind::kUnknown);
}

TEST(FileKindTest, TheErrorNamesTheFileAndTheFunctionThatReadsIt) {
  const Error error = WrongKind("a safetensors file", FileKind::kTorchSave);
  EXPECT_EQ(error.kind, ErrorKind::kUnsupported);
  EXPECT_EQ(error.message,
            "the object is a file of torch.save, not a safetensors file; use LoadStateDict");
  for (int kind = 0; kind <= static_cast<int>(FileKind::kText); ++kind) {
    const std::string message = WrongKind("x", static_cast<FileKind>(kind)).message;
    EXPECT_EQ(message.find("corrupt"), std::string::npos) << message;
  }
}

TEST(FileKindTest, ArchivesAreToldApartByTheirRecords) {
  ArchiveIndex index;
  EXPECT_EQ(KindOfArchive(index), FileKind::kZip);
  index.records.push_back({"data.pkl"});
  EXPECT_EQ(KindOfArchive(index), FileKind::kTorchSave);
  index.records.push_back({"constants.pkl"});
  EXPECT_EQ(KindOfArchive(index), FileKind::kTorchScript);
}

}  // namespace
}  // namespace penstock::checkpoint
