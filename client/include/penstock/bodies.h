// Ready-made sources and sinks: strings, memory, files and standard streams.
//
//   client->PutObject(bucket, key, "text");
//   client->PutObject(bucket, key, Body::File("model.bin").value());
//
//   std::vector<std::byte> bytes;
//   VectorSink sink(bytes);
//   client->GetObject({.bucket = bucket, .key = key, .sink = &sink});
//
// Sources rewind when a request is retried, and sinks start again. Files and streams are read and
// written on an I/O thread. For large files use penstock/files.h, which transfers parts in
// parallel.
#ifndef PENSTOCK_BODIES_H_
#define PENSTOCK_BODIES_H_

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/export.h"
#include "penstock/object_store.h"

namespace PENSTOCK_EXPORT penstock {

// ---- Sources ----

// The bytes of one request, or the place to read them from. Move-only.
class Body {
 public:
  Body(std::string text);             // NOLINT: implicit on purpose. Owned.
  Body(const char* text);             // NOLINT: implicit on purpose. Copied.
  Body(std::vector<std::byte> data);  // NOLINT: implicit on purpose. Owned.
  explicit Body(std::unique_ptr<BodySource> source) : source_(std::move(source)) {}

  // Not owned: the memory must not change until the call has ended.
  static Body View(ByteView bytes);
  static Body View(std::string_view text) { return View(AsBytes(text)); }
  // Opens a regular file. Sends its bytes [begin, end), by default all. `end` is clipped to the
  // size of the file now. If the file becomes shorter, the call fails with kInternal. Returns
  // kNotFound, kAccessDenied or kInvalidArgument (not a regular file) with the path.
  static Result<Body> File(const std::string& path, std::uint64_t begin = 0,
                           std::optional<std::uint64_t> end = std::nullopt);
  // Sends from the current position to the end of the stream, which must be seekable. Not owned:
  // the stream must live, and must not be used, until the call has ended. Returns kInvalidArgument
  // if it cannot seek.
  static Result<Body> Stream(std::istream& stream);

  // Valid as long as this object or an object moved from it.
  BodySource* source() const { return source_.get(); }

 private:
  std::unique_ptr<BodySource> source_;
};

// ---- Sinks ----

// Appends to memory that grows with the received bytes: at most about twice as many bytes are
// allocated as have arrived, whatever length the server announced. The base of the next two.
class GrowingSink : public BodySink {
 public:
  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) final;
  MutableByteView Window() final;
  Result<void> Commit(std::size_t count) final;

 protected:
  explicit GrowingSink(std::uint64_t max_bytes) : max_bytes_(max_bytes) {}
  // Changes the size of the memory, and keeps its content.
  virtual MutableByteView Resize(std::size_t size) = 0;

 private:
  const std::uint64_t max_bytes_;
  std::optional<std::uint64_t> announced_;
  MutableByteView memory_;
  std::size_t used_ = 0;
};

// Replaces the content of a string. A body of more than `max_bytes` bytes is kResourceExhausted.
class StringSink final : public GrowingSink {
 public:
  // `text` must live until the call has ended.
  explicit StringSink(std::string& text, std::uint64_t max_bytes = UINT64_MAX)
      : GrowingSink(max_bytes), text_(text) {}

 private:
  MutableByteView Resize(std::size_t size) override;
  std::string& text_;
};

// Same for a vector.
class VectorSink final : public GrowingSink {
 public:
  explicit VectorSink(std::vector<std::byte>& bytes, std::uint64_t max_bytes = UINT64_MAX)
      : GrowingSink(max_bytes), bytes_(bytes) {}

 private:
  MutableByteView Resize(std::size_t size) override;
  std::vector<std::byte>& bytes_;
};

// Fills memory of fixed size without a copy. A longer body is kInvalidArgument if the server
// announces its length, else kDataLoss.
class SpanSink final : public BodySink {
 public:
  // `memory` must live until the call has ended.
  explicit SpanSink(MutableByteView memory) : memory_(memory) {}

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override;
  MutableByteView Window() override { return memory_.subspan(used_); }
  Result<void> Commit(std::size_t count) override;
  // The bytes received: the beginning of the memory.
  MutableByteView bytes() const { return memory_.first(used_); }

 private:
  MutableByteView memory_;
  std::size_t used_ = 0;
};

// Writes a file, which is incomplete until the call and Close have succeeded. DownloadFile
// (files.h) never leaves an incomplete file at its final path.
class FileSink final : public BodySink {
 public:
  // Creates the file, or truncates it. Returns kNotFound, kAccessDenied or kInvalidArgument with
  // the path.
  static Result<std::unique_ptr<FileSink>> Create(const std::string& path);
  ~FileSink() override;
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;
  // Closes the file after the call has ended. Returns an error if the system could not store what
  // was written: some file systems (NFS, FUSE, quotas) report it only here. The destructor closes
  // the file too, and ignores errors. Later calls do nothing.
  Result<void> Close();

 private:
  FileSink(int fd, std::string path);
  int fd_;  // -1: closed
  const std::string path_;
  std::uint64_t written_ = 0;
  const std::unique_ptr<std::byte[]> buffer_;
};

// Writes to a stream. If the call must read the object again from its start, the stream seeks to
// its first position. The call ends with kUnsupported if the stream cannot seek or appends
// (std::ios::app), or if bytes of the earlier attempt could remain, because the new body is shorter
// or does not announce its length: streams cannot be truncated.
class StreamSink final : public BodySink {
 public:
  // `stream` must live until the call has ended.
  explicit StreamSink(std::ostream& stream);

  Result<void> Begin(const ObjectMetadata& metadata,
                     std::optional<std::uint64_t> body_length) override;
  MutableByteView Window() override;
  Result<void> Commit(std::size_t count) override;

 private:
  Error CannotRestart(const std::string& why) const;

  std::ostream& stream_;
  const std::int64_t start_;    // -1: not seekable
  std::uint64_t written_ = 0;   // Of this attempt.
  std::uint64_t furthest_ = 0;  // The most of any attempt.
  bool check_position_ = false;
  const std::unique_ptr<std::byte[]> buffer_;
};

}  // namespace penstock

#endif  // PENSTOCK_BODIES_H_
