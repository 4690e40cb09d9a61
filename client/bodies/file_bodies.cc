// Bodies in files and standard streams.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <istream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/io/file_error.h"
#include "penstock/bodies.h"

namespace penstock {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} << 10;

// An exception of a source ends its call with an error (BodySource).
[[noreturn]] void Throw(const std::string& message) { throw std::runtime_error(message); }

class FileBody final : public BodySource {
 public:
  FileBody(int fd, std::string path, std::uint64_t begin, std::uint64_t end)
      : fd_(fd), path_(std::move(path)), begin_(begin), end_(end), position_(begin) {}
  ~FileBody() override { ::close(fd_); }

  std::uint64_t size() const override { return end_ - begin_; }
  void Rewind() override { position_ = begin_; }
  ByteView Next(std::size_t limit) override {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>({limit, kBufferBytes, end_ - position_}));
    if (wanted == 0) return {};
    ::ssize_t got = 0;
    do {
      got = ::pread(fd_, buffer_.get(), wanted, static_cast<::off_t>(position_));
    } while (got < 0 && errno == EINTR);
    if (got < 0) Throw(FileError("read", path_, errno).message);
    if (got == 0) {
      Throw("file '" + path_ + "' became shorter during the upload: it ends at byte " +
            std::to_string(position_) + ", before byte " + std::to_string(end_));
    }
    position_ += static_cast<std::uint64_t>(got);
    return {buffer_.get(), static_cast<std::size_t>(got)};
  }

 private:
  const int fd_;
  const std::string path_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  std::uint64_t position_;
  const std::unique_ptr<std::byte[]> buffer_ =
      std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
};

class StreamBody final : public BodySource {
 public:
  StreamBody(std::istream& stream, std::int64_t begin, std::uint64_t size)
      : stream_(stream), begin_(begin), size_(size) {}

  std::uint64_t size() const override { return size_; }
  void Rewind() override {
    stream_.clear();
    stream_.seekg(begin_);
    if (!stream_) Throw("the stream of the body cannot seek to its start");
    position_ = 0;
  }
  ByteView Next(std::size_t limit) override {
    const std::size_t wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>({limit, kBufferBytes, size_ - position_}));
    if (wanted == 0) return {};
    stream_.read(reinterpret_cast<char*>(buffer_.get()), static_cast<std::streamsize>(wanted));
    const auto got = static_cast<std::size_t>(stream_.gcount());
    if (got == 0)
      Throw("the stream of the body ends after " + std::to_string(position_) + " bytes, expected " +
            std::to_string(size_));
    position_ += got;
    return {buffer_.get(), got};
  }

 private:
  std::istream& stream_;
  const std::int64_t begin_;
  const std::uint64_t size_;
  std::uint64_t position_ = 0;
  const std::unique_ptr<std::byte[]> buffer_ =
      std::make_unique_for_overwrite<std::byte[]>(kBufferBytes);
};

}  // namespace

Result<Body> Body::File(const std::string& path, std::uint64_t begin,
                        std::optional<std::uint64_t> end) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return FileError("open", path, errno);
  struct ::stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd);
    return Error::Make(ErrorKind::kInvalidArgument, "'" + path + "' is not a regular file");
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  const std::uint64_t last = std::min(end.value_or(size), size);
  return Body(std::make_unique<FileBody>(fd, path, std::min(begin, last), last));
}

Result<Body> Body::Stream(std::istream& stream) {
  const std::int64_t begin = stream.tellg();
  stream.seekg(0, std::ios::end);
  const std::int64_t end = stream.tellg();
  stream.clear();
  stream.seekg(begin);
  if (begin < 0 || end < begin || !stream) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the stream cannot seek, so its size is unknown and a retry could not "
                       "rewind it; read it into a string, or use ObjectWriter");
  }
  return Body(std::make_unique<StreamBody>(stream, begin, static_cast<std::uint64_t>(end - begin)));
}

Result<std::unique_ptr<FileSink>> FileSink::Create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return FileError("create", path, errno);
  return std::unique_ptr<FileSink>(new FileSink(fd, path));
}

FileSink::FileSink(int fd, std::string path)
    : fd_(fd),
      path_(std::move(path)),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}
FileSink::~FileSink() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> FileSink::Close() {
  if (fd_ < 0 || ::close(std::exchange(fd_, -1)) == 0) return Ok();
  return FileError("close", path_, errno);
}

Result<void> FileSink::Begin(const ObjectMetadata&, std::optional<std::uint64_t>) {
  written_ = 0;
  if (::ftruncate(fd_, 0) != 0 && errno != EINVAL) return FileError("truncate", path_, errno);
  return Ok();
}

MutableByteView FileSink::Window() { return {buffer_.get(), kBufferBytes}; }

Result<void> FileSink::Commit(std::size_t count) {
  PENSTOCK_TRY(WriteAt(fd_, {buffer_.get(), count}, written_, path_));
  written_ += count;
  return Ok();
}

StreamSink::StreamSink(std::ostream& stream)
    : stream_(stream),
      start_(stream.tellp()),
      buffer_(std::make_unique_for_overwrite<std::byte[]>(kBufferBytes)) {}

Result<void> StreamSink::Begin(const ObjectMetadata&, std::optional<std::uint64_t> body_length) {
  if (furthest_ == 0) return Ok();
  if (!body_length || *body_length < furthest_) {
    return CannotRestart(
        "the new body has " +
        (body_length ? std::to_string(*body_length) + " bytes" : "no known length") +
        ", and a stream cannot be truncated");
  }
  if (start_ >= 0) stream_.seekp(start_);
  if (start_ < 0 || stream_.tellp() != start_)
    return CannotRestart("the stream of the sink cannot seek back");
  written_ = 0;
  check_position_ = true;
  return Ok();
}

Error StreamSink::CannotRestart(const std::string& why) const {
  return Error::Make(ErrorKind::kUnsupported, "the read must start again after " +
                                                  std::to_string(furthest_) + " bytes, but " + why +
                                                  "; use a FileSink, a StringSink or DownloadFile");
}

MutableByteView StreamSink::Window() { return {buffer_.get(), kBufferBytes}; }

Result<void> StreamSink::Commit(std::size_t count) {
  stream_.write(reinterpret_cast<const char*>(buffer_.get()), static_cast<std::streamsize>(count));
  if (!stream_) {
    return Error::Make(ErrorKind::kResourceExhausted,
                       "the stream of the sink failed after " + std::to_string(written_) +
                           " bytes (std::ios::badbit or failbit is set)");
  }
  written_ += count;
  furthest_ = std::max(furthest_, written_);
  if (!std::exchange(check_position_, false)) return Ok();
  stream_.flush();
  if (stream_.tellp() != start_ + static_cast<std::int64_t>(written_))
    return CannotRestart("the stream of the sink appends");
  return Ok();
}

}  // namespace penstock
