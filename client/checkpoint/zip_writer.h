// Writes zip archives as torch does: records without compression whose content begins at multiples
// of 64 bytes, with CRC-32s behind the content. Streams: no record is held. Section numbers refer
// to PKWARE's APPNOTE.TXT 6.3.10.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_ZIP_WRITER_H_
#define PENSTOCK_CLIENT_CHECKPOINT_ZIP_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace penstock::checkpoint {

// Returns the bytes to write around the contents, which the caller writes. Call order: any number
// of (Begin, content, End), then Finish.
class ZipWriter {
 public:
  // Returns the bytes before the content of record "archive/<name>", which has `bytes` bytes.
  std::string Begin(std::string_view name, std::uint64_t bytes);
  // Returns the bytes after the content, whose CRC-32 is `crc32`.
  std::string End(std::uint32_t crc32);
  // Both around a small content.
  std::string Record(std::string_view name, std::string_view content);
  // Returns the directory, which ends the archive.
  std::string Finish();

  // Bytes of the archive so far, contents included.
  std::uint64_t bytes_written() const { return written_; }

 private:
  std::string directory_;
  std::string name_;           // of the open record
  std::uint64_t header_ = 0;   // its offset
  std::uint64_t content_ = 0;  // its size
  std::uint64_t records_ = 0;
  std::uint64_t written_ = 0;
};

// The records that torch.save writes before and after the storages.
std::string BeginArchive(ZipWriter& zip, std::string_view pickle);
std::string EndArchive(ZipWriter& zip);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_ZIP_WRITER_H_
