// The records of a zip archive as torch writes it: stored without compression, in one folder.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_ARCHIVE_INDEX_H_
#define PENSTOCK_CLIENT_CHECKPOINT_ARCHIVE_INDEX_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/result.h"

namespace penstock::checkpoint {

struct ArchiveRecord {
  std::string_view name;     // Without the folder: "data.pkl".
  std::uint64_t header = 0;  // Offset of its local header.
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;  // 0: empty, or saved without a CRC-32.
};

struct ArchiveIndex {
  std::string_view folder;             // With a slash at the end: "archive/".
  std::vector<ArchiveRecord> records;  // In the order of the directory.

  // A record that torch.save does not write: compressed, encrypted, or in another folder. Not in
  // `records`. Empty: none.
  std::string_view foreign;

  // nullptr: there is no such record.
  const ArchiveRecord* Find(std::string_view name) const;
  // Whether a TorchScript module or an archive of libtorch's `torch::save`.
  bool is_script() const { return Find("constants.pkl") != nullptr; }
};

// Reads a directory with `entries` entries of a file of `file_bytes` bytes. Names are views into
// `directory`. Returns kDataLoss for an invalid directory, a name that occurs twice, and records
// that overlap, and kUnsupported for a zip file without a folder, which torch does not write.
// Accepts any bytes.
Result<ArchiveIndex> ReadArchiveIndex(std::string_view directory, std::uint64_t entries,
                                      std::uint64_t file_bytes);

// The offset at which torch and Penstock place the content of a record: the next multiple of
// `alignment` behind its header.
std::uint64_t PredictedContent(const ArchiveIndex& index, const ArchiveRecord& record,
                               std::uint64_t alignment = 64);

// Compares the records of a complete archive with their local headers and CRC-32s. Returns
// kDataLoss, with the record and both values, or kUnsupported for a foreign record. Accepts any
// bytes.
Result<void> VerifyArchive(std::string_view archive);

// Compares the content of one record with its CRC-32. A record without one in the directory must
// have been saved without one (IsSavedWithoutCrc, which describes `header` and `behind`), and is
// then not compared. Returns kDataLoss, with the record.
Result<void> VerifyRecord(const ArchiveRecord& record, std::string_view header, ByteView content,
                          std::string_view behind);

// The error for a record whose bytes have another CRC-32 than its directory states.
Error WrongCrc(std::string_view record, std::uint32_t found, std::uint32_t expected);
// The same for bytes that the caller names and has read once or twice.
Error WrongCrcOfBytes(std::string bytes, std::uint32_t found, std::uint32_t expected, int reads);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_ARCHIVE_INDEX_H_
