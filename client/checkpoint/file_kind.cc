#include "client/checkpoint/file_kind.h"

#include <algorithm>
#include <cctype>

namespace penstock::checkpoint {
namespace {

using namespace std::string_view_literals;

// The pickle of the number with which files of torch.save began before the zip format.
constexpr std::string_view kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."sv;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // of safetensors

bool IsSafetensors(std::string_view first) {
  if (first.size() < 10) return false;
  std::uint64_t header = 0;
  for (int i = 7; i >= 0; --i) header = header << 8 | static_cast<unsigned char>(first[i]);
  return header >= 2 && header <= kMaxHeaderBytes && first[8] == '{';
}

bool IsText(std::string_view first) {
  return std::all_of(first.begin(), first.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\r' || c == '\t';
  });
}

FileKind KindOfPickle(std::string_view first) {
  if (first.substr(2).starts_with(kLegacyMagic)) return FileKind::kLegacyTorchSave;
  if (first.find("torch.distributed.checkpoint.metadata") != std::string_view::npos)
    return FileKind::kDcpMetadata;
  return FileKind::kPickle;
}

}  // namespace

FileKind KindOf(std::string_view first) {
  if (first.empty()) return FileKind::kEmpty;
  if (first.starts_with("PK\3\4") || first.starts_with("PK\5\6")) return FileKind::kZip;
  if (IsSafetensors(first)) return FileKind::kSafetensors;
  if (first.size() > 2 && first[0] == '\x80' && first[1] >= 2 && first[1] <= 5)
    return KindOfPickle(first);
  if (first.starts_with("\x93NUMPY")) return FileKind::kNumpy;
  if (first.starts_with("\x89HDF\r\n")) return FileKind::kHdf5;
  if (first.starts_with("GGUF")) return FileKind::kGguf;
  if (first.starts_with("\x1f\x8b")) return FileKind::kGzip;
  if (!IsText(first)) return FileKind::kUnknown;
  if (first.find_first_not_of(" \r\n\t") != std::string_view::npos &&
      first[first.find_first_not_of(" \r\n\t")] == '{' &&
      first.find("\"weight_map\"") != std::string_view::npos)
    return FileKind::kSafetensorsIndex;
  return FileKind::kText;
}

FileKind KindOfArchive(const ArchiveIndex& index) {
  if (index.is_script()) return FileKind::kTorchScript;
  return index.foreign.empty() && index.Find("data.pkl") != nullptr ? FileKind::kTorchSave
                                                                    : FileKind::kZip;
}

Error WrongKind(std::string_view expected, FileKind found) {
  struct Description {
    FileKind kind;
    std::string_view what;
    std::string_view fix;
  };
  constexpr Description kDescriptions[] = {
      {FileKind::kEmpty, "empty", "check the key"},
      {FileKind::kZip, "a zip archive that torch did not write", "check the key"},
      {FileKind::kTorchSave, "a file of torch.save", "use LoadStateDict"},
      {FileKind::kTorchScript, "a TorchScript archive (torch.jit.save, or torch::save of libtorch)",
       "use LoadCheckpoint of penstock/torch.h"},
      {FileKind::kLegacyTorchSave, "a file of torch.save in the format before torch 1.6",
       "load it with Python's torch.load and save it again"},
      {FileKind::kSafetensors, "a safetensors file", "use LoadSafetensors"},
      {FileKind::kSafetensorsIndex, "the index of sharded safetensors files",
       "use LoadSafetensors"},
      {FileKind::kDcpMetadata, "the metadata of a distributed checkpoint",
       "use DistributedCheckpoint::Open with the prefix before \"/.metadata\""},
      {FileKind::kPickle, "a pickle without tensor records",
       "save the tensors with torch.save or as safetensors"},
      {FileKind::kNumpy, "a NumPy array", "save it with torch.save or as safetensors"},
      {FileKind::kHdf5, "an HDF5 file", "save the tensors with torch.save or as safetensors"},
      {FileKind::kGguf, "a GGUF file", "save the tensors with torch.save or as safetensors"},
      {FileKind::kGzip, "a gzip file", "decompress it"},
      {FileKind::kText, "a text", "check the key"},
      {FileKind::kUnknown, "of an unknown format", "check the key"},
  };
  const auto* const description =
      std::find_if(std::begin(kDescriptions), std::end(kDescriptions),
                   [&](const Description& each) { return each.kind == found; });
  return Error::Make(ErrorKind::kUnsupported, "the object is " + std::string(description->what) +
                                                  ", not " + std::string(expected) + "; " +
                                                  std::string(description->fix));
}

}  // namespace penstock::checkpoint
