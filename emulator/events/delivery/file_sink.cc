#include "emulator/events/delivery/file_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/io/descriptor.h"
#include "penstock/base/bytes.h"

namespace penstock::emulator::events {
namespace {

struct OpenFile {
  Descriptor descriptor;
  off_t size = 0;
};

Result<OpenFile> Open(const std::string& path) {
  // O_NONBLOCK: the opening of a FIFO would wait for its reader.
  OpenFile file{Descriptor(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600))};
  const auto refuse = [&path](const std::string& problem) {
    return Error::Make(
        ErrorKind::kInvalidArgument,
        "events file '" + path + "' " + problem + "; name a regular file that this user may write");
  };
  if (!file.descriptor) return refuse(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat state {};
  if (::fstat(file.descriptor.get(), &state) != 0 || !S_ISREG(state.st_mode))
    return refuse("is not a regular file");
  file.size = state.st_size;
  return file;
}

class FileSink final : public Sink {
 public:
  FileSink(std::string path, store::Durability durability)
      : path_(std::move(path)), durability_(durability) {}

  std::size_t most() const override { return 100; }

  Result<void> Send(std::string_view /*name_space*/,
                    std::span<const store::StoredEvent> events) override {
    PENSTOCK_ASSIGN(const OpenFile file, Open(path_));
    const int descriptor = file.descriptor.get();
    std::string lines;
    // A power failure can leave a part of a line. Its event is sent again, on a line of its own.
    char last = '\n';
    if (file.size > 0 && ::pread(descriptor, &last, 1, file.size - 1) == 1 && last != '\n')
      lines += '\n';
    for (const store::StoredEvent& stored : events) lines.append(stored.event.message) += '\n';
    ByteView left = AsBytes(lines);
    if (const int problem = store::WriteAll(descriptor, left); problem != 0) {
      // No part of a line stays.
      if (::ftruncate(descriptor, file.size) != 0) {
        return store::SystemError(ErrorKind::kUnavailable, "shorten", path_, errno);
      }
      return store::SystemError(ErrorKind::kUnavailable, "write", path_, problem);
    }
    if (durability_ != store::Durability::kStrict) return Ok();
    if (::fdatasync(descriptor) != 0)
      return store::SystemError(ErrorKind::kUnavailable, "sync", path_, errno);
    if (file.size > 0) return Ok();
    return store::SyncDirectory(std::filesystem::path(path_).parent_path());
  }

  void Cancel() override {}

 private:
  const std::string path_;
  const store::Durability durability_;
};

}  // namespace

Result<std::unique_ptr<Sink>> OpenFileSink(const std::string& path, store::Durability durability) {
  // The working directory of the process may change.
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(path, error).string();
  PENSTOCK_TRY(Open(error ? path : absolute));
  return std::unique_ptr<Sink>(std::make_unique<FileSink>(error ? path : absolute, durability));
}

}  // namespace penstock::emulator::events
