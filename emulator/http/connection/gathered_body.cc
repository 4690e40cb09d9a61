#include "emulator/http/connection/gathered_body.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/log/diagnostics.h"
#include "emulator/http/parsing/wire_error.h"

namespace penstock::emulator::http {
namespace {

constexpr std::size_t kReadBytes = 64 << 10;
constexpr std::size_t kTurnBytes = 4 << 20;  // then other connections are served

constinit DiagnosticEvent body_not_paced("wire.body_not_paced");

}  // namespace

GatheredBody::~GatheredBody() {
  if (file_ >= 0) ::close(file_);
  quotas_.ReleaseSpace(file_bytes_);
}

GatheredBody::State GatheredBody::Gather() {
  std::array<std::byte, kReadBytes> block;
  for (std::size_t taken = 0; taken < kTurnBytes;) {
    const Result<std::optional<std::size_t>> got = wire_.ReadArrived(block);
    if (!got.ok()) {
      Fail(got.error());
      return State::kReady;
    }
    if (!*got) return State::kWaiting;
    if (**got == 0) return State::kReady;
    taken += **got;
    if (const Result<void> stored = Store(ByteView(block).first(**got)); !stored.ok()) {
      Fail(stored.error());
      return State::kReady;
    }
  }
  return State::kMore;
}

Result<void> GatheredBody::Store(ByteView bytes) {
  const std::size_t here = std::min(bytes.size(), kMemoryBytes - memory_.size());
  memory_.append(AsText(bytes.first(here)));
  return here == bytes.size() ? Ok() : StoreInFile(bytes.subspan(here));
}

Result<void> GatheredBody::StoreInFile(ByteView bytes) {
  if (!quotas_.ReserveSpace(bytes.size())) return NoRoomForBody();
  const std::uint64_t begin = file_bytes_;
  file_bytes_ += bytes.size();  // the destructor returns all of it
  if (file_ < 0) {
    const Result<int> file = quotas_.OpenFile();
    if (!file.ok()) return NoRoomForBody();
    file_ = *file;
  }
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t count = ::pwrite(file_, bytes.data() + written, bytes.size() - written,
                                   static_cast<off_t>(begin + written));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return NoRoomForBody();
    written += static_cast<std::size_t>(count);
  }
  return Ok();
}

void GatheredBody::ReportWait() noexcept {
  if (reported_ || read_ == 0 || read_ == memory_.size() + file_bytes_) return;
  reported_ = true;
  body_not_paced.Report(
      "a client sent a rate-limited or stalled request body at full speed, because many other "
      "requests were sending bodies; only its response is late");
}

Result<std::size_t> GatheredBody::Read(MutableByteView into) {
  if (into.empty()) return std::size_t{0};
  if (read_ < memory_.size()) {
    const std::size_t count = std::min(into.size(), memory_.size() - read_);
    std::memcpy(into.data(), memory_.data() + read_, count);
    read_ += count;
    return count;
  }
  const std::uint64_t at = read_ - memory_.size();
  if (at < file_bytes_) {
    const std::size_t wanted = std::min<std::uint64_t>(into.size(), file_bytes_ - at);
    ssize_t count = -1;
    do {
      count = ::pread(file_, into.data(), wanted, static_cast<off_t>(at));
    } while (count < 0 && errno == EINTR);
    if (count > 0) {
      read_ += static_cast<std::size_t>(count);
      return static_cast<std::size_t>(count);
    }
    if (!error_) error_ = InternalError();
  }
  if (error_) return *error_;
  return std::size_t{0};
}

}  // namespace penstock::emulator::http
