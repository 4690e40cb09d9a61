// Properties of the readers of tensor archives, the zip directory and the pickle, for any input.
#ifndef PENSTOCK_CLIENT_FUZZ_ARCHIVE_PROPERTIES_H_
#define PENSTOCK_CLIENT_FUZZ_ARCHIVE_PROPERTIES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/check.h"
#include "penstock/tensor_archive.h"
#include "penstock/zip_directory.h"

namespace penstock {

inline std::string LittleEndian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

inline std::string PickledTuple(const std::vector<std::int64_t>& numbers) {
  std::string text = "(";
  for (const std::int64_t number : numbers)
    text += "\x8a\x08" + LittleEndian(static_cast<std::uint64_t>(number), 8);
  return text + "t";
}

inline std::string PickledText(std::string_view text) {
  return "X" + LittleEndian(text.size(), 4) + std::string(text);
}

// Returns the pickle of `tensor` in the form of torch's _rebuild_tensor_v3.
inline std::string WritePickle(const PickledTensor& tensor) {
  const auto number = [](std::uint64_t value) { return "\x8a\x08" + LittleEndian(value, 8); };
  std::string text =
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v3\n((";
  text += PickledText("storage") + "ctorch.storage\nUntypedStorage\n" +
          PickledText(tensor.storage_key) + PickledText("cpu");
  text += number(tensor.storage_bytes) + "tQ" +
          number(static_cast<std::uint64_t>(tensor.storage_offset));
  text += PickledTuple(tensor.sizes) + PickledTuple(tensor.strides) +
          "\x89"
          "ccollections\nOrderedDict\n)R";
  return text + "ctorch\n" + tensor.dtype + "\ntR.";
}

// An accepted pickle has one stride per size. Writing the tensor as a pickle and reading it again
// returns the same tensor.
inline void CheckPickle(std::string_view pickle) {
  const std::optional<PickledTensor> tensor = ReadTensorPickle(pickle);
  if (!tensor) return;
  PENSTOCK_CHECK(tensor->sizes.size() == tensor->strides.size() &&
                 tensor->sizes.size() <= pickle.size());
  PENSTOCK_CHECK(tensor->storage_offset >= 0 && tensor->storage_key.size() < pickle.size());
  for (const std::int64_t size : tensor->sizes) PENSTOCK_CHECK(size >= 0);
  for (const std::int64_t stride : tensor->strides) PENSTOCK_CHECK(stride >= 0);
  constexpr std::size_t kMaxDimensions = 1'000;  // the reader ends at 4,096 opcodes
  if (tensor->storage_bytes >= std::uint64_t{1} << 58 || tensor->sizes.size() > kMaxDimensions)
    return;
  PENSTOCK_CHECK(ReadTensorPickle(WritePickle(*tensor)) == tensor);
}

inline bool IsWithin(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

// The directory is within the file, and its names are within the directory.
inline void CheckZipDirectory(std::string_view file) {
  const std::optional<ZipDirectory> found = FindZipDirectory(file, file.size());
  if (!found) return;
  PENSTOCK_CHECK(found->begin <= found->end && found->end <= file.size());
  const std::string_view directory = file.substr(found->begin, found->end - found->begin);
  const auto entries = ReadZipDirectory(directory);
  if (!entries) return;
  for (const ZipEntry& entry : *entries) PENSTOCK_CHECK(IsWithin(entry.name, directory));
}

// Input: two bytes that set the sizes of head and tail, then the archive. Reading only head and
// tail returns the same as reading all bytes, or nothing. The payload is within the archive.
inline void CheckArchive(std::string_view input) {
  if (input.size() < 2) return;
  const auto front = static_cast<unsigned char>(input[0]);
  const auto back = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  CheckPickle(input);
  CheckZipDirectory(input);
  const std::optional<TensorArchive> whole = ReadTensorArchive({{}, 0, AsBytes(input)});
  if (whole) {
    PENSTOCK_CHECK(IsWithin(whole->pickle, input) && IsWithin(whole->payload_key, input));
    PENSTOCK_CHECK(whole->payload_begin <= input.size() &&
                   whole->payload_bytes <= input.size() - whole->payload_begin);
    CheckPickle(whole->pickle);
  }
  const std::size_t head = input.size() * front / 256;
  const std::size_t tail = (input.size() - head) * back / 256;
  const ArchiveEnds ends{AsBytes(input.substr(0, head)), input.size() - head - tail,
                         AsBytes(input.substr(input.size() - tail))};
  const std::optional<TensorArchive> part = ReadTensorArchive(ends);
  if (!part) return;
  PENSTOCK_CHECK(whole && part->pickle == whole->pickle && part->payload_key == whole->payload_key);
  PENSTOCK_CHECK(part->payload_begin == whole->payload_begin &&
                 part->payload_bytes == whole->payload_bytes);
}

}  // namespace penstock

#endif  // PENSTOCK_CLIENT_FUZZ_ARCHIVE_PROPERTIES_H_
