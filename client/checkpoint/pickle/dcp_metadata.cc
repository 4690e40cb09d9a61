#include "client/checkpoint/pickle/dcp_metadata.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/encoding.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/pickle/pickle.h"
#include "client/checkpoint/pickle/pickle_writer.h"
#include "client/checkpoint/piece_crcs.h"

namespace penstock::checkpoint {
namespace {

constexpr std::string_view kModule = "torch.distributed.checkpoint.metadata";
// An attribute of _StorageInfo that torch ignores: the CRC-32s of a tensor's pieces, 4 bytes each,
// little-endian.
constexpr std::string_view kCrc32s = "penstock_crc32s";
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;
constexpr std::size_t kMaxShownBytes = 32;  // of a number in a message
constexpr std::string_view kWhatToDo =
    ": the checkpoint is incomplete, or its metadata was corrupted; load another checkpoint";
constexpr std::size_t kMaxKeyBytes = 1024;  // S3's limit of keys
constexpr std::size_t kMaxAttributes = 64;  // of an object; torch's have up to 10
// A pickle can refer to one value from many tensors and chunks, each of which has a copy.
constexpr std::size_t kMaxGrowth = 256;  // bytes of copies for each byte of the pickle
constexpr std::size_t kFreeBytes = std::size_t{1} << 20;

Error Invalid(std::string_view name, std::string_view what) {
  return Error::Make(ErrorKind::kDataLoss, "invalid metadata of a distributed checkpoint: '" +
                                               std::string(name) + "' " + std::string(what));
}

std::string Shown(const Dimensions& numbers) {
  std::string text = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(numbers[i]);
  return text + "]";
}

class MetadataReader {
 public:
  MetadataReader(const PickleDocument& document, std::size_t pickle_bytes)
      : document_(document), bytes_left_(kMaxGrowth * pickle_bytes + kFreeBytes) {}

  Result<DcpMetadata> Read() {
    const PickleId root = document_.root();
    const auto entries = IsClass(root, "Metadata") ? Attribute(root, "state_dict_metadata")
                                                   : std::optional<PickleId>();
    if (!entries || document_.kind(*entries) != PickleKind::kDict) {
      return Error::Make(ErrorKind::kUnsupported,
                         "the pickle contains " + document_.Describe(root) +
                             ", not the Metadata of torch.distributed.checkpoint");
    }
    PENSTOCK_TRY(ReadPlaces(root));
    const auto items = document_.items(*entries);
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (document_.kind(items[i]) != PickleKind::kText)
        return Invalid(document_.Describe(items[i]), "is the name of a value, not a str");
      const std::string_view name = document_.at(items[i]).text;
      if (!names_.insert(name).second) return Invalid(name, "occurs twice");
      PENSTOCK_TRY(ReadEntry(std::string(name), items[i + 1]));
    }
    PENSTOCK_TRY(CheckPlaces());
    return std::move(metadata_);
  }

 private:
  // Places by name and offset. `whole`: that of an index without an offset.
  struct Places {
    std::optional<PickleId> whole;
    std::map<Dimensions, PickleId> chunks;
  };

  bool IsClass(PickleId id, std::string_view name) const {
    const std::string_view callee = document_.Callee(id);
    return callee.starts_with("torch.distributed.") && callee.size() > name.size() &&
           callee.ends_with(name) && callee[callee.size() - name.size() - 1] == '.';
  }
  std::optional<PickleId> Attribute(PickleId object, std::string_view name) const {
    const auto state = document_.State(object);
    // The search is linear, and many objects can share one state.
    if (!state || document_.items(*state).size() > 2 * kMaxAttributes) return std::nullopt;
    return document_.Find(*state, name);
  }
  // Subtracts the bytes that a tensor or a chunk takes.
  Result<void> Charge(std::size_t bytes, std::string_view name) {
    if (bytes > bytes_left_) return Invalid(name, "repeats its values too often");
    bytes_left_ -= bytes;
    return Ok();
  }
  std::optional<Dimensions> Numbers(PickleId object, std::string_view name) const {
    const auto found = Attribute(object, name);
    return found ? document_.Integers(*found) : std::nullopt;
  }
  std::optional<std::string_view> Text(PickleId object, std::string_view name) const {
    const auto found = Attribute(object, name);
    if (!found || document_.kind(*found) != PickleKind::kText) return std::nullopt;
    return document_.at(*found).text;
  }
  // The number, or for other values what they are.
  std::string ShownNumber(PickleId id) const {
    const PickleKind kind = document_.kind(id);
    if (kind == PickleKind::kInt) return std::to_string(document_.at(id).number);
    const std::string_view bytes = document_.at(id).text;
    if (kind != PickleKind::kLargeInt || bytes.size() > kMaxShownBytes ||
        static_cast<signed char>(bytes.back()) < 0)
      return document_.Describe(id);
    std::string reversed(bytes.rbegin(), bytes.rend());
    reversed.erase(0, reversed.find_first_not_of('\0'));
    return "0x" + HexEncode(AsBytes(reversed));
  }

  // storage_data: {MetadataIndex(fqn, offset): _StorageInfo}.
  Result<void> ReadPlaces(PickleId root) {
    const auto storage = Attribute(root, "storage_data");
    if (!storage || document_.kind(*storage) != PickleKind::kDict)
      return Invalid("storage_data", "is missing");
    const auto items = document_.items(*storage);
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      const auto name = Text(items[i], "fqn");
      if (!name) return Invalid("storage_data", "has a key without a name");
      Places& places = places_[std::string(*name)];
      if (auto offset = Numbers(items[i], "offset")) {
        places.chunks[std::move(*offset)] = items[i + 1];
      } else {
        places.whole = items[i + 1];
      }
    }
    return Ok();
  }

  // Offset and length of an item; nullopt if an object cannot have these bytes.
  std::optional<std::pair<std::uint64_t, std::uint64_t>> Range(PickleId begin,
                                                               PickleId length) const {
    for (const PickleId id : {begin, length}) {
      if (document_.kind(id) != PickleKind::kInt || document_.at(id).number < 0)
        return std::nullopt;
    }
    const std::int64_t at = document_.at(begin).number;
    const std::int64_t size = document_.at(length).number;
    if (at > kMaxBytes || size > kMaxBytes - at) return std::nullopt;
    return std::pair(static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(size));
  }

  Result<DcpPlace> ReadPlace(const std::string& name, PickleId id) const {
    const auto path = Text(id, "relative_path");
    const auto begin = Attribute(id, "offset");
    const auto length = Attribute(id, "length");
    if (!path || !begin || !length) return Invalid(name, "has no place");
    if (path->empty() || path->size() > kMaxKeyBytes) {
      return Invalid(name, "is in an object whose name has " + std::to_string(path->size()) +
                               " bytes, but names have 1 to " + std::to_string(kMaxKeyBytes) +
                               std::string(kWhatToDo));
    }
    const auto bytes = Range(*begin, *length);
    if (!bytes) {
      return Invalid(name, "has " + ShownNumber(*length) + " bytes from byte " +
                               ShownNumber(*begin) + " of '" + std::string(*path) +
                               "', but items are within bytes 0 to " + std::to_string(kMaxBytes) +
                               " (2^62)" + std::string(kWhatToDo));
    }
    DcpPlace place{std::string(*path), bytes->first, bytes->second, {}};
    const auto transforms = Attribute(id, "transform_descriptors");
    if (!transforms) return place;
    if (document_.items(*transforms).size() > kMaxAttributes)
      return Invalid(name, "has too many transforms");
    for (const PickleId transform : document_.items(*transforms)) {
      if (place.transforms.size() > kMaxKeyBytes) return Invalid(name, "has too many transforms");
      if (!place.transforms.empty()) place.transforms += ", ";
      const bool text = document_.kind(transform) == PickleKind::kText;
      place.transforms += text ? std::string(document_.at(transform).text.substr(0, kMaxKeyBytes))
                               : document_.Describe(transform);
    }
    return place;
  }

  Result<std::vector<std::uint32_t>> ReadCrcs(const std::string& name, PickleId place) const {
    const auto found = Attribute(place, kCrc32s);
    if (!found) return std::vector<std::uint32_t>();
    auto crcs = document_.kind(*found) == PickleKind::kBytes ? ReadCrc32s(document_.at(*found).text)
                                                             : std::nullopt;
    if (!crcs) return Invalid(name, "has checksums that are not bytes, 4 of each");
    return *std::move(crcs);
  }

  Result<void> ReadEntry(std::string name, PickleId id) {
    if (IsClass(id, "TensorStorageMetadata")) return ReadTensor(std::move(name), id);
    if (!IsClass(id, "BytesStorageMetadata")) {
      return Error::Make(ErrorKind::kUnsupported, "the metadata of '" + name + "' is " +
                                                      document_.Describe(id) +
                                                      ", which is not supported");
    }
    const auto found = places_.find(name);
    if (found == places_.end() || (!found->second.whole && found->second.chunks.size() != 1))
      return Invalid(name, "has no place");
    PENSTOCK_ASSIGN(DcpPlace place,
                    ReadPlace(name, found->second.whole ? *found->second.whole
                                                        : found->second.chunks.begin()->second));
    PENSTOCK_TRY(Charge(sizeof(DcpBytes) + place.path.size() + place.transforms.size(), name));
    metadata_.bytes.push_back({std::move(name), std::move(place)});
    return Ok();
  }

  // TensorProperties is a tuple of torch's __getstate__, or a dict of attributes.
  std::optional<std::string_view> Dtype(PickleId tensor) const {
    const auto properties = Attribute(tensor, "properties");
    if (!properties) return std::nullopt;
    const auto state = document_.State(*properties);
    if (!state) return std::nullopt;
    std::optional<PickleId> dtype = document_.Find(*state, "dtype");
    if (document_.kind(*state) == PickleKind::kTuple && !document_.items(*state).empty())
      dtype = document_.items(*state)[0];
    if (!dtype || document_.kind(*dtype) != PickleKind::kGlobal) return std::nullopt;
    const std::string_view name = document_.at(*dtype).text;
    if (!name.starts_with("torch.")) return std::nullopt;
    return name.substr(6);
  }

  Result<void> ReadTensor(std::string name, PickleId id) {
    const auto dtype = Dtype(id);
    auto sizes = Numbers(id, "size");
    const auto chunks = Attribute(id, "chunks");
    if (!dtype || !sizes || !chunks || !DenseBytes(*sizes, 1))
      return Invalid(name, "has no dtype or size");
    PENSTOCK_TRY(Charge(sizeof(DcpTensor) + dtype->size() + 8 * sizes->size(), name));
    DcpTensor tensor{std::move(name), std::string(*dtype), std::move(*sizes), {}};
    for (const PickleId chunk : document_.items(*chunks)) {
      auto offsets = Numbers(chunk, "offsets");
      auto lengths = Numbers(chunk, "sizes");
      if (!offsets || !lengths) return Invalid(tensor.name, "has an invalid chunk");
      DcpChunk made{{std::move(*offsets), std::move(*lengths)}, {}};
      if (!made.box.IsWithin(tensor.sizes)) {
        return Invalid(tensor.name, "has the chunk " + Shown(made.box.lengths) + " at " +
                                        Shown(made.box.offsets) + ", but the size " +
                                        Shown(tensor.sizes));
      }
      const auto place = PlaceOf(tensor.name, made.box.offsets, document_.items(*chunks).size());
      if (!place)
        return Invalid(tensor.name, "has no place for its chunk at " + Shown(made.box.offsets));
      PENSTOCK_ASSIGN(made.place, ReadPlace(tensor.name, *place));
      PENSTOCK_ASSIGN(made.place.crc32s, ReadCrcs(tensor.name, *place));
      PENSTOCK_TRY(Charge(sizeof(DcpChunk) + 16 * tensor.sizes.size() + made.place.path.size() +
                              made.place.transforms.size() + 4 * made.place.crc32s.size(),
                          tensor.name));
      tensor.chunks.push_back(std::move(made));
    }
    metadata_.tensors.push_back(std::move(tensor));
    return Ok();
  }

  // Items of one file share no bytes: otherwise one has the place of another.
  Result<void> CheckPlaces() const {
    struct Item {
      const DcpPlace* place;
      const std::string* name;
    };
    std::vector<Item> items;
    for (const DcpBytes& bytes : metadata_.bytes) items.push_back({&bytes.place, &bytes.name});
    for (const DcpTensor& tensor : metadata_.tensors) {
      for (const DcpChunk& chunk : tensor.chunks) items.push_back({&chunk.place, &tensor.name});
    }
    std::erase_if(items, [](const Item& item) { return item.place->length == 0; });
    std::sort(items.begin(), items.end(), [](const Item& one, const Item& other) {
      return std::tie(one.place->path, one.place->begin) <
             std::tie(other.place->path, other.place->begin);
    });
    for (std::size_t i = 1; i < items.size(); ++i) {
      const auto& [place, name] = items[i];
      const auto& [before, name_before] = items[i - 1];
      if (place->path != before->path || place->begin >= before->begin + before->length) continue;
      return Invalid(*name, "is at byte " + std::to_string(place->begin) + " of '" + place->path +
                                "', and '" + *name_before + "' is there to byte " +
                                std::to_string(before->begin + before->length));
    }
    return Ok();
  }

  std::optional<PickleId> PlaceOf(const std::string& name, const Dimensions& offsets,
                                  std::size_t chunks) const {
    const auto places = places_.find(name);
    if (places == places_.end()) return std::nullopt;
    const auto found = places->second.chunks.find(offsets);
    if (found != places->second.chunks.end()) return found->second;
    return chunks == 1 ? places->second.whole : std::nullopt;
  }

  const PickleDocument& document_;
  std::size_t bytes_left_;  // of copies
  std::set<std::string_view> names_;
  std::map<std::string, Places, std::less<>> places_;
  DcpMetadata metadata_;
};

// ---- writing

class MetadataWriter {
 public:
  std::string Write(const DcpMetadata& metadata) {
    Begin(kModule, "Metadata");
    writer_.Text("state_dict_metadata");
    writer_.EmptyDict();
    writer_.Mark();
    for (const DcpTensor& tensor : metadata.tensors) WriteTensor(tensor);
    for (const DcpBytes& bytes : metadata.bytes) {
      writer_.Text(bytes.name);
      writer_.Global(kModule, "BytesStorageMetadata");
      writer_.EmptyTuple();
      writer_.NewObject();
    }
    writer_.SetItems();
    WritePlannerData(metadata);
    writer_.Text("storage_data");
    writer_.EmptyDict();
    writer_.Mark();
    for (const DcpTensor& tensor : metadata.tensors) {
      for (std::size_t i = 0; i < tensor.chunks.size(); ++i) {
        WriteIndex(tensor.name, &tensor.chunks[i].box.offsets, i);
        WritePlace(tensor.chunks[i].place);
      }
    }
    for (const DcpBytes& bytes : metadata.bytes) {
      WriteIndex(bytes.name, nullptr, 0);
      WritePlace(bytes.place);
    }
    writer_.SetItems();
    writer_.Text("storage_meta");
    writer_.None();
    writer_.Text("version");
    writer_.Text("1.0.0");
    End();
    return std::move(writer_).Finish();
  }

 private:
  // An object whose state is a dict: Begin, keys and values, End.
  void Begin(std::string_view module, std::string_view name) {
    writer_.Global(module, name);
    writer_.EmptyTuple();
    writer_.NewObject();
    writer_.EmptyDict();
    writer_.Mark();
  }
  void End() {
    writer_.SetItems();
    writer_.Build();
  }

  // The state of TensorProperties: dtype, layout, requires_grad, memory format, pin_memory.
  void WriteProperties(const std::string& dtype) {
    writer_.Global(kModule, "TensorProperties");
    writer_.EmptyTuple();
    writer_.NewObject();
    writer_.Mark();
    writer_.Global("torch", dtype);
    writer_.Global("torch.serialization", "_get_layout");
    writer_.Mark();
    writer_.Text("torch.strided");
    writer_.Tuple();
    writer_.Reduce();
    writer_.Bool(false);
    writer_.Global(kModule, "_MEM_FORMAT_ENCODING");
    writer_.Integers(std::vector<std::int64_t>{0});
    writer_.Reduce();
    writer_.Bool(false);
    writer_.Tuple();
    writer_.Build();
  }

  void WriteTensor(const DcpTensor& tensor) {
    writer_.Text(tensor.name);
    Begin(kModule, "TensorStorageMetadata");
    writer_.Text("properties");
    WriteProperties(tensor.dtype);
    writer_.Text("size");
    writer_.Size(tensor.sizes);
    writer_.Text("chunks");
    writer_.EmptyList();
    writer_.Mark();
    for (const DcpChunk& chunk : tensor.chunks) {
      Begin(kModule, "ChunkStorageMetadata");
      writer_.Text("offsets");
      writer_.Size(chunk.box.offsets);
      writer_.Text("sizes");
      writer_.Size(chunk.box.lengths);
      End();
    }
    writer_.Appends();
    End();
  }

  // The default planner maps each name to the path of the value in the state dict. Names are not
  // split, so the path has one element.
  void WritePlannerData(const DcpMetadata& metadata) {
    writer_.Text("planner_data");
    writer_.EmptyDict();
    writer_.Mark();
    const auto write = [&](const std::string& name) {
      writer_.Text(name);
      writer_.Mark();
      writer_.Text(name);
      writer_.Tuple();
    };
    for (const DcpTensor& tensor : metadata.tensors) write(tensor.name);
    for (const DcpBytes& bytes : metadata.bytes) write(bytes.name);
    writer_.SetItems();
  }

  void WriteIndex(const std::string& name, const Dimensions* offset, std::size_t index) {
    Begin(kModule, "MetadataIndex");
    writer_.Text("fqn");
    writer_.Text(name);
    writer_.Text("index");
    if (offset != nullptr) {
      writer_.Int(static_cast<std::int64_t>(index));
      writer_.Text("offset");
      writer_.Size(*offset);
    } else {
      writer_.None();
    }
    End();
  }

  void WritePlace(const DcpPlace& place) {
    Begin("torch.distributed.checkpoint.filesystem", "_StorageInfo");
    writer_.Text("relative_path");
    writer_.Text(place.path);
    writer_.Text("offset");
    writer_.Int(static_cast<std::int64_t>(place.begin));
    writer_.Text("length");
    writer_.Int(static_cast<std::int64_t>(place.length));
    if (!place.crc32s.empty()) {
      writer_.Text(kCrc32s);
      writer_.Bytes(WriteCrc32s(place.crc32s));
    }
    End();
  }

  PickleWriter writer_{3};
};

}  // namespace

Result<DcpMetadata> ReadDcpMetadata(std::string_view pickle) {
  PENSTOCK_ASSIGN(const PickleDocument document, PickleDocument::Read(pickle));
  return MetadataReader(document, pickle.size()).Read();
}

std::string WriteDcpMetadata(const DcpMetadata& metadata) {
  return MetadataWriter().Write(metadata);
}

}  // namespace penstock::checkpoint
