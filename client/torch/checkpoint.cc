// Saves torch::serialize archives to s3:// URIs and loads them.
#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/file_kind.h"
#include "client/torch/s3_uri.h"
#include "penstock/torch.h"
#include "penstock/zip_directory.h"

namespace penstock::torch {
namespace {

// Runs code of the caller or of libtorch. `what` precedes its exception in the error.
template <class Code>
Result<void> Guard(const char* what, const S3Uri& place, const Code& code) {
  const auto failed = [&](const char* why) {
    return Error::Make(ErrorKind::kInternal, std::string(what) + ": " + why)
        .At("SaveCheckpoint", place.bucket.value, place.path);
  };
  try {
    code();
    return Ok();
  } catch (const std::exception& failure) {
    return failed(failure.what());
  } catch (...) {
    return failed("an exception of an unknown type");
  }
}

// Why libtorch did not load a file: it has another format, or is damaged.
Error NotLoaded(std::string_view file, const std::exception& failure) {
  using checkpoint::FileKind;
  FileKind kind = checkpoint::KindOf(file.substr(0, 64 << 10));
  if (kind == FileKind::kZip) {
    const auto directory = FindZipDirectory(file, file.size());
    const auto index = checkpoint::ReadArchiveIndex(
        directory ? file.substr(directory->begin, directory->end - directory->begin) : "",
        directory ? directory->entries : 0, file.size());
    kind = index.ok() ? checkpoint::KindOfArchive(*index) : FileKind::kUnknown;
  }
  constexpr FileKind kDamaged[] = {FileKind::kUnknown, FileKind::kEmpty, FileKind::kText,
                                   FileKind::kTorchScript};
  if (std::find(std::begin(kDamaged), std::end(kDamaged), kind) == std::end(kDamaged))
    return WrongKind("an archive of libtorch's torch::save", kind);
  return Error::Make(ErrorKind::kDataLoss,
                     std::string("the object is not a checkpoint of libtorch: ") + failure.what());
}

}  // namespace

Result<UploadResponse> SaveCheckpoint(
    std::shared_ptr<ObjectStore> store, std::string_view uri,
    const std::function<void(::torch::serialize::OutputArchive&)>& fill, UploadOptions options,
    const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  ::torch::serialize::OutputArchive archive;
  PENSTOCK_TRY(Guard("the checkpoint could not be created", place, [&] { fill(archive); }));
  return SaveCheckpoint(std::move(store), uri, archive, std::move(options), interrupt);
}

Result<UploadResponse> SaveCheckpoint(std::shared_ptr<ObjectStore> store, std::string_view uri,
                                      ::torch::serialize::OutputArchive& archive,
                                      UploadOptions options, const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  // Destruction without Finish, as on every error below, aborts the upload. A partial checkpoint
  // never appears.
  const std::unique_ptr<ObjectWriter> writer = ObjectWriter::Create(
      std::move(store), place.bucket, ObjectKey(place.path), std::move(options));
  std::optional<Error> failed;
  const auto write = [&](const void* data, std::size_t size) -> std::size_t {
    // libtorch also ends its archive in a destructor, where an exception would terminate the
    // process. After an error, further bytes are discarded and the error is returned below.
    if (failed) return size;
    Result<void> written = writer->Write({static_cast<const std::byte*>(data), size}, interrupt);
    if (!written.ok()) failed = std::move(written).error();
    return size;
  };
  PENSTOCK_TRY(
      Guard("the checkpoint could not be serialized", place, [&] { archive.save_to(write); }));
  if (failed) return std::move(*failed);
  return writer->Finish(interrupt);
}

Result<::torch::serialize::InputArchive> LoadCheckpoint(ObjectStore& store, std::string_view uri,
                                                        LoadOptions options,
                                                        const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(const S3Uri place, ParseObjectUri(uri));
  std::unique_ptr<std::byte[]> buffer;
  DownloadRequest request;
  request.bucket = place.bucket;
  request.key = ObjectKey(place.path);
  request.options = std::move(options.download);
  request.destination = [&buffer](std::uint64_t size) -> Result<MutableByteView> {
    buffer.reset(new (std::nothrow) std::byte[size]);
    if (buffer) return MutableByteView(buffer.get(), size);
    return Error::Make(ErrorKind::kResourceExhausted,
                       "no memory for a checkpoint of " + std::to_string(size) + " bytes");
  };
  PENSTOCK_ASSIGN(const DownloadResponse downloaded,
                  Download(store, std::move(request), interrupt));
  try {
    ::torch::serialize::InputArchive archive;
    archive.load_from(reinterpret_cast<const char*>(buffer.get()), downloaded.bytes,
                      options.device);
    return archive;
  } catch (const std::exception& failure) {
    const std::string_view file(reinterpret_cast<const char*>(buffer.get()), downloaded.bytes);
    return NotLoaded(file, failure).At("LoadCheckpoint", place.bucket.value, place.path);
  }
}

}  // namespace penstock::torch
