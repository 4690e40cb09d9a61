#include "emulator/store/blobs/content.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

namespace penstock::emulator::store {
namespace {

Result<void> ReadSlice(const Blob& blob, std::uint64_t offset, MutableByteView into) {
  // Mapped files are verified too.
  for (ByteRange left{offset, offset + into.size()}; left.size() > 0;) {
    PENSTOCK_ASSIGN(const std::uint64_t checked, blob.Checked(left));
    left.begin += checked;
  }
  if (const std::optional<ByteView> memory = blob.Memory(); memory.has_value()) {
    std::memcpy(into.data(), memory->data() + offset, into.size());
    return Ok();
  }
  while (!into.empty()) {
    const ssize_t got =
        ::pread(blob.FileDescriptor(), into.data(), into.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return Error::Make(ErrorKind::kInternal,
                         std::string("cannot read a stored object: ") + std::strerror(errno));
    }
    if (got == 0)
      return Error::Make(ErrorKind::kInternal,
                         "cannot read a stored object: its file is too short");
    offset += static_cast<std::uint64_t>(got);
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return Ok();
}

}  // namespace

Result<void> CheckContent(const Content& content, ByteRange range) {
  std::uint64_t at = 0;  // offset of the slice in the content
  for (const ContentSlice& slice : content.slices) {
    if (at >= range.end) break;
    const std::uint64_t begin = slice.range.begin + (std::max(range.begin, at) - at);
    const std::uint64_t end = slice.range.begin + std::min(range.end - at, slice.range.size());
    for (ByteRange left{begin, end}; left.begin < left.end;) {
      PENSTOCK_ASSIGN(const std::uint64_t checked, slice.blob->Checked(left));
      left.begin += checked;
    }
    at += slice.range.size();
  }
  return Ok();
}

Result<void> CheckContentAnew(const Content& content, ByteRange range) {
  for (const ContentSlice& slice : content.Sub(range).slices)
    PENSTOCK_TRY(slice.blob->Reverify(slice.range));
  return Ok();
}

Result<void> ReadContent(const Content& content, std::uint64_t offset, MutableByteView into) {
  for (const ContentSlice& slice : content.slices) {
    if (into.empty()) break;
    if (offset >= slice.range.size()) {
      offset -= slice.range.size();
      continue;
    }
    const std::uint64_t count = std::min<std::uint64_t>(slice.range.size() - offset, into.size());
    PENSTOCK_TRY(ReadSlice(*slice.blob, slice.range.begin + offset, into.first(count)));
    into = into.subspan(count);
    offset = 0;
  }
  if (!into.empty())
    return Error::Make(ErrorKind::kInternal, "a read extends beyond the end of the stored object");
  return Ok();
}

}  // namespace penstock::emulator::store
