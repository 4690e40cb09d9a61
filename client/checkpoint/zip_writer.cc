#include "client/checkpoint/zip_writer.h"

#include <algorithm>

#include "base/crc/crc.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kIn64 = 0xFFFFFFFF;  // 4.4.1.4: the value is in the zip64 field
constexpr std::uint64_t kAlignment = 64;
constexpr std::uint16_t kUtf8Names = 0x0800;
constexpr std::uint16_t kDescriptor = 0x0008;  // 4.3.9: sizes and CRC-32 follow the content

void Append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>(value >> 8 * i) : char{0};
}

std::uint16_t FlagsOf(std::uint64_t bytes) {
  return bytes == 0 ? kUtf8Names : kUtf8Names | kDescriptor;
}

}  // namespace

std::string ZipWriter::Begin(std::string_view name, std::uint64_t bytes) {
  name_ = "archive/" + std::string(name);
  header_ = written_;
  content_ = bytes;
  const bool wide = bytes >= kIn64;
  std::string extra;
  if (wide) {
    Append(extra, 1, 2);
    Append(extra, 16, 2);
    Append(extra, bytes, 8);
    Append(extra, bytes, 8);
  }
  const std::uint64_t unpadded = header_ + 30 + name_.size() + extra.size() + 4;
  const std::uint64_t padding = (kAlignment - unpadded % kAlignment) % kAlignment;
  extra += "FB";
  Append(extra, padding, 2);
  extra.append(padding, 'Z');
  std::string out("PK\3\4");
  Append(out, wide ? 45 : 0, 2);
  Append(out, FlagsOf(bytes), 2);
  Append(out, 0, 2 + 4 + 4);  // method, time and date, CRC-32
  Append(out, wide ? kIn64 : 0, 4);
  Append(out, wide ? kIn64 : 0, 4);
  Append(out, name_.size(), 2);
  Append(out, extra.size(), 2);
  out += name_ + extra;
  written_ += out.size() + bytes;
  return out;
}

std::string ZipWriter::End(std::uint32_t crc32) {
  std::string out;
  if (content_ != 0) {
    out += "PK\7\10";
    Append(out, crc32, 4);
    const int width = content_ >= kIn64 ? 8 : 4;
    Append(out, content_, width);
    Append(out, content_, width);
  }
  std::string extra;
  for (const std::uint64_t value : {content_, content_, header_}) {
    if (value >= kIn64) Append(extra, value, 8);
  }
  const int version = extra.empty() ? 0 : 45;
  directory_ += "PK\1\2";
  Append(directory_, version, 2);
  Append(directory_, version, 2);
  Append(directory_, FlagsOf(content_), 2);
  Append(directory_, 0, 2 + 4);  // method, time and date
  Append(directory_, crc32, 4);
  Append(directory_, std::min(content_, kIn64), 4);
  Append(directory_, std::min(content_, kIn64), 4);
  Append(directory_, name_.size(), 2);
  Append(directory_, extra.empty() ? 0 : extra.size() + 4, 2);
  Append(directory_, 0, 2 + 2 + 2);  // comment, disk, internal attributes
  Append(directory_, 0, 4);          // external attributes
  Append(directory_, std::min(header_, kIn64), 4);
  directory_ += name_;
  if (!extra.empty()) {
    Append(directory_, 1, 2);
    Append(directory_, extra.size(), 2);
    directory_ += extra;
  }
  ++records_;
  written_ += out.size();
  return out;
}

std::string ZipWriter::Record(std::string_view name, std::string_view content) {
  std::string out = Begin(name, content.size());
  out += content;
  return out += End(Crc32(AsBytes(content)));
}

std::string ZipWriter::Finish() {
  const std::uint64_t begin = written_;
  std::string out = directory_;
  if (begin >= kIn64 || records_ >= 0xFFFF) {
    const std::uint64_t end64 = begin + directory_.size();
    out += "PK\6\6";  // 4.3.14
    Append(out, 44, 8);
    Append(out, 45, 2);
    Append(out, 45, 2);
    Append(out, 0, 4 + 4);
    Append(out, records_, 8);
    Append(out, records_, 8);
    Append(out, directory_.size(), 8);
    Append(out, begin, 8);
    out += "PK\6\7";  // 4.3.15
    Append(out, 0, 4);
    Append(out, end64, 8);
    Append(out, 1, 4);
  }
  out += "PK\5\6";  // 4.3.16
  Append(out, 0, 2 + 2);
  Append(out, std::min<std::uint64_t>(records_, 0xFFFF), 2);
  Append(out, std::min<std::uint64_t>(records_, 0xFFFF), 2);
  Append(out, std::min<std::uint64_t>(directory_.size(), kIn64), 4);
  Append(out, std::min(begin, kIn64), 4);
  Append(out, 0, 2);
  written_ += out.size();
  return out;
}

std::string BeginArchive(ZipWriter& zip, std::string_view pickle) {
  std::string out = zip.Record("data.pkl", pickle);
  out += zip.Record(".format_version", "1");
  out += zip.Record(".storage_alignment", "64");
  return out += zip.Record("byteorder", "little");
}

std::string EndArchive(ZipWriter& zip) {
  std::string out = zip.Record("version", "3\n");
  return out += zip.Finish();
}

}  // namespace penstock::checkpoint
