#include "client/checkpoint/archive_index.h"

#include <algorithm>

#include "base/crc/crc.h"
#include "penstock/base/bytes.h"
#include "penstock/zip_directory.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // from this size on, zip64 fields

Error Invalid(std::string what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid zip archive: " + std::move(what));
}

std::string Quoted(std::string_view name) { return "record '" + std::string(name) + "'"; }

// Each name is there once, and each record, with its header, ends before the next one begins.
// Otherwise a small file could have contents of any size.
Result<void> CheckRecords(const ArchiveIndex& index, std::uint64_t file_bytes) {
  std::vector<const ArchiveRecord*> records;
  for (const ArchiveRecord& record : index.records) records.push_back(&record);
  std::sort(records.begin(), records.end(),
            [](const auto* one, const auto* other) { return one->name < other->name; });
  const auto twice = std::adjacent_find(
      records.begin(), records.end(),
      [](const auto* one, const auto* other) { return one->name == other->name; });
  if (twice != records.end()) return Invalid(Quoted((*twice)->name) + " occurs twice");
  std::sort(records.begin(), records.end(),
            [](const auto* one, const auto* other) { return one->header > other->header; });
  std::uint64_t end = file_bytes;
  for (const ArchiveRecord* const record : records) {
    const std::uint64_t bytes =
        kZipLocalHeaderBytes + index.folder.size() + record->name.size() + record->bytes;
    if (record->header > end || bytes > end - record->header)
      return Invalid(Quoted(record->name) + " overlaps another one or the end of the archive");
    end = record->header;
  }
  return Ok();
}

std::string Hex(std::uint32_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[value >> shift & 15];
  return text;
}

Error Differs(std::string what, std::string_view were, const std::string& found,
              std::uint32_t expected) {
  what += " the CRC-32 " + found + ", and ";
  what += were;
  what += " saved with " + Hex(expected) +
          ": the data was corrupted in transfer or in storage; retry, or load another checkpoint";
  return Error::Make(ErrorKind::kDataLoss, std::move(what));
}

}  // namespace

const ArchiveRecord* ArchiveIndex::Find(std::string_view name) const {
  const auto found = std::find_if(records.begin(), records.end(),
                                  [&](const ArchiveRecord& record) { return record.name == name; });
  return found == records.end() ? nullptr : &*found;
}

Result<ArchiveIndex> ReadArchiveIndex(std::string_view directory, std::uint64_t entries,
                                      std::uint64_t file_bytes) {
  const auto all = ReadZipDirectory(directory);
  if (!all || all->size() != entries || all->empty())
    return Invalid("its directory cannot be read");
  ArchiveIndex index;
  const std::size_t slash = all->front().name.find('/');
  if (slash == std::string_view::npos)
    return Error::Make(ErrorKind::kUnsupported, "the zip archive was not written by torch");
  index.folder = all->front().name.substr(0, slash + 1);
  for (const ZipEntry& entry : *all) {
    const bool folder = entry.name.ends_with('/') || (entry.attributes & 0x10) != 0;
    if (entry.method != 0 || entry.encrypted || entry.stored_bytes != entry.content_bytes ||
        folder || !entry.name.starts_with(index.folder)) {
      if (index.foreign.empty()) index.foreign = entry.name;
      continue;
    }
    index.records.push_back(
        {entry.name.substr(index.folder.size()), entry.header, entry.stored_bytes, entry.crc32});
  }
  PENSTOCK_TRY(CheckRecords(index, file_bytes));
  return index;
}

std::uint64_t PredictedContent(const ArchiveIndex& index, const ArchiveRecord& record,
                               std::uint64_t alignment) {
  // The extra field "FB" pads the header; a zip64 field precedes it if the size needs one.
  const std::uint64_t wide = record.bytes >= kIn64 ? 20 : 0;
  const std::uint64_t unpadded =
      record.header + kZipLocalHeaderBytes + index.folder.size() + record.name.size() + wide + 4;
  return (unpadded + alignment - 1) / alignment * alignment;
}

Result<void> VerifyArchive(std::string_view archive) {
  const auto found = FindZipDirectory(archive, archive.size());
  if (!found || found->trailing_bytes != 0) return Invalid("it does not end with a zip directory");
  PENSTOCK_ASSIGN(const ArchiveIndex index,
                  ReadArchiveIndex(archive.substr(found->begin, found->end - found->begin),
                                   found->entries, archive.size()));
  if (!index.foreign.empty()) {
    return Error::Make(ErrorKind::kUnsupported,
                       Quoted(index.foreign) +
                           " of the zip archive is compressed, encrypted or in "
                           "another folder; torch.save does not write such");
  }
  for (const ArchiveRecord& record : index.records) {
    const std::string_view header = archive.substr(record.header);
    const auto offset = ZipContentOffset(header);
    if (!offset || *offset > header.size() || record.bytes > header.size() - *offset)
      return Invalid(Quoted(record.name) + " is not at its offset");
    std::string name(index.folder);
    name += record.name;
    if (header.substr(kZipLocalHeaderBytes, name.size()) != name)
      return Invalid(Quoted(record.name) + " has another name in its header");
    PENSTOCK_TRY(VerifyRecord(record, header, AsBytes(header.substr(*offset, record.bytes)),
                              header.substr(*offset + record.bytes)));
  }
  return Ok();
}

Result<void> VerifyRecord(const ArchiveRecord& record, std::string_view header, ByteView content,
                          std::string_view behind) {
  if (record.bytes == 0 && record.crc32 == 0) return Ok();
  if (record.crc32 == 0) {
    if (IsSavedWithoutCrc(header, behind, record.bytes)) return Ok();
    return Invalid(Quoted(record.name) +
                   " has no CRC-32 in the directory, but was saved with one: the data was "
                   "corrupted in transfer or in storage; retry, or load another checkpoint");
  }
  const std::uint32_t crc = Crc32(content);
  if (crc != record.crc32) return WrongCrc(record.name, crc, record.crc32);
  return Ok();
}

Error WrongCrc(std::string_view record, std::uint32_t found, std::uint32_t expected) {
  return Differs(Quoted(record) + " has", "was", Hex(found), expected);
}

Error WrongCrcOfBytes(std::string bytes, std::uint32_t found, std::uint32_t expected, int reads) {
  return Differs(std::move(bytes) + " have", "were",
                 Hex(found) + (reads > 1 ? " in two reads" : ""), expected);
}

}  // namespace penstock::checkpoint
