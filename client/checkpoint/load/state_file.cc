#include "client/checkpoint/load/state_file.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/file_kind.h"
#include "penstock/zip_directory.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kFirstBytes = 64 << 10;  // most pickles are in there
constexpr std::uint64_t kTailBytes = 64 << 10;   // and most directories in here
constexpr std::uint64_t kMaxDirectoryBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxPickleBytes = std::uint64_t{1} << 30;
constexpr std::uint64_t kMaxSettingBytes = 64;
constexpr std::size_t kDescriptorBytes = 12;  // bytes of a data descriptor to verify, 4.3.9
constexpr std::string_view kExpected = "a file of torch.save";

Error TooLarge(std::string_view what, std::uint64_t bytes, std::uint64_t limit) {
  return Error::Make(ErrorKind::kResourceExhausted,
                     "the " + std::string(what) + " of the file has " + std::to_string(bytes) +
                         " bytes, the limit is " + std::to_string(limit));
}

Error Invalid(std::string what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid file of torch.save: " + std::move(what));
}

}  // namespace

struct StateFile::Impl {
  CheckpointObject object;
  std::string directory;  // `index` has views into it
  ArchiveIndex index;
  std::uint64_t alignment = 64;
  SavedState state;
  std::map<std::string, const ArchiveRecord*, std::less<>> storages;  // by key

  explicit Impl(CheckpointObject opened) : object(std::move(opened)) {}

  Result<void> ReadDirectory(const LoadContext& context) {
    const std::uint64_t size = object.size();
    const std::uint64_t tail_begin = size - std::min(size, kTailBytes);
    PENSTOCK_ASSIGN(const std::string tail, object.Read(context, tail_begin, size));
    const auto found = FindZipDirectory(tail, size);
    if (!found || found->trailing_bytes != 0)
      return Invalid("it has no zip directory at its end, so it is probably truncated");
    if (found->end - found->begin > kMaxDirectoryBytes)
      return TooLarge("zip directory", found->end - found->begin, kMaxDirectoryBytes);
    if (found->begin >= tail_begin) {
      directory = tail.substr(found->begin - tail_begin, found->end - found->begin);
    } else {
      PENSTOCK_ASSIGN(directory, object.Read(context, found->begin, found->end));
    }
    PENSTOCK_ASSIGN(index, ReadArchiveIndex(directory, found->entries, size));
    for (const ArchiveRecord& record : index.records) {
      if (record.name.starts_with("data/")) storages.emplace(record.name.substr(5), &record);
    }
    return Ok();
  }

  // Reads a record with its header, and compares its CRC-32.
  Result<std::string> Content(const LoadContext& context, const ArchiveRecord& record) const {
    // The extra field of the header pads the content, so its end is not known exactly.
    const std::uint64_t most =
        kZipLocalHeaderBytes + index.folder.size() + record.name.size() + UINT16_MAX + record.bytes;
    const std::uint64_t guess = PredictedContent(index, record, alignment) + record.bytes;
    const std::uint64_t end =
        std::min(std::min(guess, record.header + most) + kDescriptorBytes, object.size());
    PENSTOCK_ASSIGN(std::string bytes, object.Read(context, record.header, end));
    const auto offset = ZipContentOffset(bytes);
    if (!offset) return Invalid("record '" + std::string(record.name) + "' is not at its offset");
    const std::uint64_t content_end = record.header + *offset + record.bytes;
    if (content_end > object.size()) return Invalid("a record ends behind the file");
    const std::uint64_t behind_end = std::min(content_end + kDescriptorBytes, object.size());
    if (behind_end > end) {
      PENSTOCK_ASSIGN(bytes, object.Read(context, record.header, behind_end));
    }
    std::string content = bytes.substr(*offset, record.bytes);
    PENSTOCK_TRY(VerifyRecord(record, bytes, AsBytes(content),
                              std::string_view(bytes).substr(*offset + record.bytes)));
    return content;
  }

  // Reads a record whose content is one word or number.
  Result<std::string> Setting(const LoadContext& context, const ArchiveRecord& record) const {
    if (record.bytes <= kMaxSettingBytes) return Content(context, record);
    return Invalid("record '" + std::string(record.name) + "' has " + std::to_string(record.bytes) +
                   " bytes, the limit is " + std::to_string(kMaxSettingBytes));
  }

  Result<void> ReadRecords(const LoadContext& context, const NameFilter& filter) {
    if (const FileKind kind = KindOfArchive(index); kind != FileKind::kTorchSave)
      return WrongKind(kExpected, kind);
    if (const ArchiveRecord* const order = index.Find("byteorder")) {
      PENSTOCK_ASSIGN(const std::string text, Setting(context, *order));
      if (text != "little") {
        return Error::Make(
            ErrorKind::kUnsupported,
            "the file has the byte order '" + text.substr(0, 20) + "'; only little is supported");
      }
    }
    if (const ArchiveRecord* const record = index.Find(".storage_alignment")) {
      PENSTOCK_ASSIGN(const std::string text, Setting(context, *record));
      const long value = std::strtol(text.c_str(), nullptr, 10);
      if (value > 0 && value <= 1 << 20) alignment = static_cast<std::uint64_t>(value);
    }
    const ArchiveRecord& pickle = *index.Find("data.pkl");
    if (pickle.bytes > kMaxPickleBytes) return TooLarge("pickle", pickle.bytes, kMaxPickleBytes);
    PENSTOCK_ASSIGN(const std::string text, Content(context, pickle));
    PENSTOCK_ASSIGN(state, ReadStatePickle(text, filter));
    for (const SavedTensor& tensor : state.tensors) {
      const auto found = storages.find(tensor.tensor.storage_key);
      if (found == storages.end())
        return Invalid("it has no record for the storage of '" + tensor.name + "'");
      PENSTOCK_TRY(CheckStorage(tensor, found->second->bytes));
    }
    return Ok();
  }

  // The bytes around the content of a record.
  struct Around {
    std::array<std::byte, kZipLocalHeaderBytes> header{};
    std::array<std::byte, kDescriptorBytes> behind{};
  };

  // Adds the content of a record, and the bytes behind it if it has no CRC-32 in the directory.
  void AddContent(const ArchiveRecord& record, std::uint64_t begin, MutableByteView memory,
                  Around& around, std::vector<RangePiece>& pieces) const {
    if (record.bytes == 0 || begin + record.bytes > object.size()) return;
    pieces.push_back({begin, memory});
    if (record.crc32 == 0 && begin + record.bytes + kDescriptorBytes <= object.size())
      pieces.push_back({begin + record.bytes, around.behind});
  }

  // Reads the headers beside the contents, whose offsets are predicted, and again any content
  // whose prediction was wrong.
  Result<void> Read(const LoadContext& context, const std::vector<StorageRead>& reads) const {
    std::vector<RangePiece> pieces;
    std::vector<Around> around(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const ArchiveRecord& record = *storages.find(reads[i].key)->second;
      if (record.header + kZipLocalHeaderBytes > object.size())
        return Invalid("record '" + std::string(record.name) + "' is not at its offset");
      pieces.push_back({record.header, around[i].header});
      AddContent(record, PredictedContent(index, record, alignment), reads[i].memory, around[i],
                 pieces);
    }
    PENSTOCK_TRY(ReadPieces(context, object, std::move(pieces)));
    std::vector<RangePiece> again;
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const ArchiveRecord& record = *storages.find(reads[i].key)->second;
      const auto offset = ZipContentOffset(AsText(around[i].header));
      if (!offset || record.header + *offset + record.bytes > object.size())
        return Invalid("record '" + std::string(record.name) + "' is not at its offset");
      if (record.header + *offset != PredictedContent(index, record, alignment))
        AddContent(record, record.header + *offset, reads[i].memory, around[i], again);
    }
    PENSTOCK_TRY(ReadPieces(context, object, std::move(again)));
    for (std::size_t i = 0; i < reads.size(); ++i) {
      PENSTOCK_TRY(VerifyRecord(*storages.find(reads[i].key)->second, AsText(around[i].header),
                                reads[i].memory, AsText(around[i].behind)));
    }
    return Ok();
  }
};

StateFile::StateFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateFile::~StateFile() = default;
StateFile::StateFile(StateFile&&) noexcept = default;

Result<StateFile> StateFile::Open(const LoadContext& context, BucketName bucket, ObjectKey key,
                                  const NameFilter& filter) {
  PENSTOCK_ASSIGN(CheckpointObject object,
                  CheckpointObject::Open(context, std::move(bucket), std::move(key), kFirstBytes));
  auto impl = std::make_unique<Impl>(std::move(object));
  const auto at = [&](Error error) { return impl->object.At(std::move(error), "LoadStateDict"); };
  if (const FileKind kind = KindOf(impl->object.first()); kind != FileKind::kZip)
    return at(WrongKind(kExpected, kind));
  if (auto read = impl->ReadDirectory(context); !read.ok()) return at(std::move(read).error());
  if (auto read = impl->ReadRecords(context, filter); !read.ok())
    return at(std::move(read).error());
  return StateFile(std::move(impl));
}

const SavedState& StateFile::state() const { return impl_->state; }

Result<void> StateFile::Read(const LoadContext& context,
                             const std::vector<StorageRead>& storages) const {
  for (const StorageRead& read : storages) {
    const auto found = impl_->storages.find(read.key);
    if (found == impl_->storages.end() || found->second->bytes != read.memory.size())
      return Error::Make(ErrorKind::kInvalidArgument,
                         "the memory for storage '" + read.key + "' has another size");
  }
  auto read = impl_->Read(context, storages);
  if (!read.ok()) return impl_->object.At(std::move(read).error(), "LoadStateDict");
  return read;
}

Result<void> CheckStorage(const SavedTensor& tensor, std::uint64_t storage_bytes) {
  const DtypeInfo* const dtype = FindDtype(tensor.tensor.dtype);
  if (dtype == nullptr) {
    return Error::Make(
        ErrorKind::kUnsupported,
        "'" + tensor.name + "' has the dtype " + tensor.tensor.dtype + ", which is not supported");
  }
  const auto bytes = StridedBytes(tensor.tensor.sizes, tensor.tensor.strides, dtype->item_bytes);
  const auto offset = static_cast<std::uint64_t>(tensor.tensor.storage_offset);
  if (bytes && tensor.tensor.storage_bytes == storage_bytes &&
      offset <= storage_bytes / dtype->item_bytes &&
      *bytes <= storage_bytes - offset * dtype->item_bytes)
    return Ok();
  return Invalid("the elements of '" + tensor.name + "' are not within its storage of " +
                 std::to_string(storage_bytes) + " bytes");
}

Result<StateInMemory> ReadStateArchive(std::string_view archive, const NameFilter& filter,
                                       std::string_view prefix) {
  PENSTOCK_TRY(VerifyArchive(archive));
  const auto found = FindZipDirectory(archive, archive.size());
  PENSTOCK_ASSIGN(const ArchiveIndex index,
                  ReadArchiveIndex(archive.substr(found->begin, found->end - found->begin),
                                   found->entries, archive.size()));
  if (const FileKind kind = KindOfArchive(index); kind != FileKind::kTorchSave)
    return WrongKind(kExpected, kind);
  const auto content = [&](const ArchiveRecord& record) {
    const std::string_view header = archive.substr(record.header);
    return header.substr(*ZipContentOffset(header), record.bytes);  // VerifyArchive checked both
  };
  StateInMemory read;
  PENSTOCK_ASSIGN(read.state, ReadStatePickle(content(*index.Find("data.pkl")), filter, prefix));
  for (const SavedTensor& tensor : read.state.tensors) {
    const ArchiveRecord* const record = index.Find("data/" + tensor.tensor.storage_key);
    if (record == nullptr)
      return Invalid("it has no record for the storage of '" + tensor.name + "'");
    PENSTOCK_TRY(CheckStorage(tensor, record->bytes));
    read.storages.push_back(content(*record));
  }
  return read;
}

}  // namespace penstock::checkpoint
