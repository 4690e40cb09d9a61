#include "client/checkpoint/load/item_load.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/crc/crc.h"
#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/load/state_file.h"
#include "penstock/base/blocking.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kSmallItemBytes = 64 << 10;  // fetched whole
constexpr std::uint64_t kEndBytes = 4096;            // of an item around its payload, at most
constexpr std::uint64_t kAlignment = 64;             // of payloads
constexpr std::uint64_t kBatchBytes = 36 << 20;
constexpr std::size_t kBatchPieces = 4096;
constexpr std::uint64_t kDirectPartBytes = 18 << 20;
constexpr std::uint64_t kScratchPartBytes = 8 << 20;
constexpr std::uint64_t kWindowBytes = 512 << 20;   // requested and not yet complete
constexpr std::uint64_t kScratchBytes = 80 << 20;   // the same, of scratch memory
constexpr std::uint64_t kZip64Bytes = 0xFFFF'0000;  // from this size on, zip64 fields

struct Memory {
  std::unique_ptr<std::byte[]> data;
  std::uint64_t size = 0;

  Result<void> Allocate(std::uint64_t bytes) {
    data.reset(new (std::nothrow) std::byte[bytes]);
    if (!data) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         "no memory for " + std::to_string(bytes) + " bytes of a checkpoint");
    }
    size = bytes;
    return Ok();
  }
  void Free() { *this = Memory(); }
  MutableByteView view(std::uint64_t begin, std::uint64_t bytes) const {
    return {data.get() + begin, bytes};
  }
};

// The CRC-32 of bytes [begin, begin + size) of a payload.
struct PieceCrc {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
};

struct Item {
  const DcpTensor* tensor = nullptr;
  const DcpChunk* chunk = nullptr;
  std::vector<const ItemRead*> reads;
  Dimensions strides;  // of the payload, as predicted: row-major
  std::uint64_t item_bytes = 0;
  std::uint64_t payload = 0;  // bytes
  std::uint64_t head = 0;     // bytes before the payload; of a whole item, all
  std::uint64_t tail = 0;
  bool whole = false;
  bool is_complete = false;  // all elements are requested, so that the CRC-32 can be compared
  Memory ends;               // head and tail
  std::size_t parts_left = 0;
  std::vector<PieceCrc> crcs;

  const DcpPlace& place() const { return chunk->place; }
  const Dimensions& sizes() const { return chunk->box.lengths; }
};

// Elements that are received together. `read` is null for the ends of an item.
struct Part {
  Item* item = nullptr;
  const ItemRead* read = nullptr;
  Box box;         // within the chunk
  Memory scratch;  // row-major; empty: received in the memory of the read
};

struct Batch {
  std::string path;
  std::vector<RangePiece> pieces;
  std::vector<Part> parts;
  std::uint64_t bytes = 0;
  std::uint64_t scratch = 0;
};

// The size of a trailer, the bytes behind the payload, depends on the payload's size modulo the
// alignment, on zip64 fields, and on the program that wrote it.
std::uint64_t KindOfTrailer(std::uint64_t payload) {
  const std::uint64_t kind = payload == 0 ? kAlignment : payload % kAlignment;
  return kind * 2 + (payload >= kZip64Bytes ? 1 : 0);
}

// Whether both strides address the same elements.
bool SameLayout(const Dimensions& sizes, const Dimensions& one, const Dimensions& other) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && one[i] != other[i]) return false;
  }
  return true;
}

class Loader {
 public:
  Loader(const LoadContext& context, const ItemLocation& location)
      : location_(location), reader_(context) {}

  Result<void> Run(const std::vector<ItemRead>& reads) {
    PENSTOCK_TRY(Group(reads));
    PENSTOCK_TRY(LearnTrailers());
    for (auto& [place, item] : items_) {
      Predict(item);
      PENSTOCK_TRY(Add(item));
    }
    PENSTOCK_TRY(FinishAll());
    for (Item* item : std::exchange(refetch_, {})) {
      item->whole = true;
      PENSTOCK_TRY(Add(*item));
    }
    return FinishAll();
  }

 private:
  // ---- items

  Result<void> Group(const std::vector<ItemRead>& reads) {
    for (const ItemRead& read : reads) {
      const DcpPlace& place = read.chunk->place;
      Item& item = items_[{place.path, place.begin}];
      if (item.reads.empty()) {
        PENSTOCK_TRY(Describe(read, item));
      } else {
        PENSTOCK_TRY(CheckSame(read, item));
      }
      item.reads.push_back(&read);
    }
    for (auto& [place, item] : items_) {
      std::int64_t elements = 0;
      for (const ItemRead* read : item.reads) elements += read->box.elements();
      item.is_complete = elements >= Box{item.sizes(), item.sizes()}.elements();
    }
    return Ok();
  }

  Result<void> Describe(const ItemRead& read, Item& item) const {
    item.tensor = read.tensor;
    item.chunk = read.chunk;
    if (!item.place().transforms.empty()) {
      return Error::Make(ErrorKind::kUnsupported,
                         "'" + read.tensor->name + "' was encoded by the extension " +
                             item.place().transforms + "; items with extensions are not supported");
    }
    const DtypeInfo* const dtype = FindDtype(read.tensor->dtype);
    const auto bytes = dtype ? DenseBytes(item.sizes(), dtype->item_bytes) : std::nullopt;
    if (!bytes)
      return Error::Make(ErrorKind::kUnsupported, "'" + read.tensor->name + "' has the dtype " +
                                                      read.tensor->dtype +
                                                      ", which is not supported, or is too large");
    item.item_bytes = dtype->item_bytes;
    item.payload = *bytes;
    item.strides = RowMajorStrides(item.sizes());
    return Ok();
  }

  // All reads of an item use its dtype, its sizes and its length, so that they must agree.
  static Result<void> CheckSame(const ItemRead& read, const Item& item) {
    const DcpPlace& place = read.chunk->place;
    if (read.tensor->dtype == item.tensor->dtype && read.chunk->box.lengths == item.sizes() &&
        place.length == item.place().length && place.transforms == item.place().transforms)
      return Ok();
    return Error::Make(ErrorKind::kDataLoss,
                       "two chunks name one place: '" + item.tensor->name + "' and '" +
                           read.tensor->name +
                           "' differ in dtype, size or length and are both at byte " +
                           std::to_string(place.begin) + " of '" + place.path +
                           "': the metadata of the checkpoint is invalid");
  }

  static bool IsLarge(const Item& item) {
    const std::uint64_t length = item.place().length;
    return length > kSmallItemBytes && length > item.payload &&
           length - item.payload <= 2 * kEndBytes;
  }

  // Reads the ends of one large item of each kind.
  Result<void> LearnTrailers() {
    std::map<std::uint64_t, Item*> probed;  // by kind
    for (auto& [place, item] : items_) {
      if (IsLarge(item)) probed.emplace(KindOfTrailer(item.payload), &item);
    }
    for (auto& [kind, item] : probed) {
      PENSTOCK_TRY(item->ends.Allocate(2 * kEndBytes));
      const DcpPlace& place = item->place();
      const std::uint64_t end = place.begin + place.length;
      std::vector<RangePiece> pieces{{place.begin, item->ends.view(0, kEndBytes)},
                                     {end - kEndBytes, item->ends.view(kEndBytes, kEndBytes)}};
      reader_.Start({location_.bucket, ObjectKey(location_.prefix + place.path), std::move(pieces)},
                    kind);
    }
    while (reader_.in_flight() > 0) PENSTOCK_TRY(NextToken());
    for (auto& [kind, item] : probed) {
      const auto archive =
          ReadTensorArchive({item->ends.view(0, kEndBytes), item->place().length - 2 * kEndBytes,
                             item->ends.view(kEndBytes, kEndBytes)});
      if (archive && archive->payload_bytes == item->payload)
        trailers_[kind] = item->place().length - archive->payload_begin - item->payload;
      item->ends.Free();
    }
    return Ok();
  }

  // Sets head and tail, or `whole` if they cannot be predicted.
  void Predict(Item& item) const {
    const auto trailer = trailers_.find(KindOfTrailer(item.payload));
    item.whole = true;
    if (!IsLarge(item) || trailer == trailers_.end()) return;
    const std::uint64_t around = item.place().length - item.payload;
    if (around <= trailer->second || (around - trailer->second) % kAlignment != 0) return;
    item.whole = false;
    item.tail = trailer->second;
    item.head = around - item.tail;
  }

  // ---- requesting

  Result<void> Add(Item& item) {
    item.crcs.clear();
    item.parts_left = 1;  // until all parts are requested
    if (item.whole) {
      item.head = item.place().length;
      item.tail = 0;
    }
    PENSTOCK_TRY(AddEnds(item));
    if (!item.whole) {
      for (const ItemRead* read : item.reads) {
        const Runs runs(read->box.lengths, item.strides, read->memory.strides, item.item_bytes);
        const bool direct = runs.are_long();
        const Box box = direct ? read->box : read->box.Widened(item.sizes(), item.item_bytes);
        const std::uint64_t most = direct ? kDirectPartBytes : kScratchPartBytes;
        if (box.elements() == 0) continue;
        for (Box& part : box.Parts(static_cast<std::int64_t>(most / item.item_bytes)))
          PENSTOCK_TRY(AddPart(item, *read, std::move(part), direct));
      }
    }
    return Finish(item);
  }

  Result<void> AddEnds(Item& item) {
    const std::uint64_t bytes = item.head + item.tail;
    PENSTOCK_TRY(Room(item.place().path, bytes, item.whole ? bytes : 0));
    PENSTOCK_TRY(item.ends.Allocate(bytes));
    const DcpPlace& place = item.place();
    Append(place.begin, item.ends.view(0, item.head));
    Append(place.begin + place.length - item.tail, item.ends.view(item.head, item.tail));
    AppendPart({&item});
    return Ok();
  }

  Result<void> AddPart(Item& item, const ItemRead& read, Box box, bool direct) {
    const auto bytes = static_cast<std::uint64_t>(box.elements()) * item.item_bytes;
    PENSTOCK_TRY(Room(item.place().path, bytes, direct ? 0 : bytes));
    Part part{&item, &read, std::move(box)};
    std::byte* memory = nullptr;
    if (direct) {
      memory = MemoryOf(part);
    } else {
      PENSTOCK_TRY(part.scratch.Allocate(bytes));
      memory = part.scratch.data.get();
    }
    const std::uint64_t begin =
        item.place().begin + item.head +
        static_cast<std::uint64_t>(part.box.First(item.strides)) * item.item_bytes;
    const Runs runs = RunsOf(part);
    runs.ForEach([&](std::uint64_t from, std::uint64_t to) {
      Append(begin + from, {memory + to, runs.run_bytes()});
    });
    AppendPart(std::move(part));
    return Ok();
  }

  // Where a part that is received directly begins in the memory of its read.
  static std::byte* MemoryOf(const Part& part) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < part.box.offsets.size(); ++i)
      at += (part.box.offsets[i] - part.read->box.offsets[i]) * part.read->memory.strides[i];
    return part.read->memory.data + static_cast<std::uint64_t>(at) * part.item->item_bytes;
  }
  // The runs between the payload and where the part is received.
  static Runs RunsOf(const Part& part) {
    const Dimensions strides =
        part.scratch.data ? RowMajorStrides(part.box.lengths) : part.read->memory.strides;
    return Runs(part.box.lengths, part.item->strides, strides, part.item->item_bytes);
  }

  // Makes the open batch one with room for `bytes`, `scratch` of them scratch memory. Waits while
  // too much is in flight.
  Result<void> Room(const std::string& path, std::uint64_t bytes, std::uint64_t scratch) {
    const bool fits = open_.path == path && open_.bytes + bytes <= kBatchBytes &&
                      open_.pieces.size() < kBatchPieces &&
                      open_.scratch + scratch <= kScratchPartBytes;
    if (!fits) Flush();
    while (reader_.in_flight() > 0 && (bytes_ + open_.bytes + bytes > kWindowBytes ||
                                       scratch_ + open_.scratch + scratch > kScratchBytes))
      PENSTOCK_TRY(TakeNext());
    open_.path = path;
    open_.bytes += bytes;
    open_.scratch += scratch;
    return Ok();
  }
  void Append(std::uint64_t begin, MutableByteView memory) {
    if (!memory.empty()) open_.pieces.push_back({begin, memory});
  }
  void AppendPart(Part part) {
    ++part.item->parts_left;
    open_.parts.push_back(std::move(part));
  }
  void Flush() {
    if (open_.parts.empty()) return;
    const std::uint64_t token = ++last_token_;
    bytes_ += open_.bytes;
    scratch_ += open_.scratch;
    RangeBatch batch{location_.bucket, ObjectKey(location_.prefix + open_.path),
                     std::move(open_.pieces)};
    batches_[token] = std::exchange(open_, Batch());
    reader_.Start(std::move(batch), token);
  }

  // ---- receiving

  Result<std::uint64_t> NextToken() {
    auto token = reader_.Next();
    if (!token.ok() && token.error().code == "NoSuchKey") {
      token.error().message +=
          "; the checkpoint names this object, and may have been replaced or removed since its "
          ".metadata was read: load again; if that fails too, the checkpoint is incomplete";
    }
    return token;
  }
  Result<void> FinishAll() {
    Flush();
    while (reader_.in_flight() > 0) PENSTOCK_TRY(TakeNext());
    return Ok();
  }

  Result<void> TakeNext() {
    PENSTOCK_ASSIGN(const std::uint64_t token, NextToken());
    const auto found = batches_.find(token);
    Batch batch = std::move(found->second);
    batches_.erase(found);
    bytes_ -= batch.bytes;
    scratch_ -= batch.scratch;
    for (Part& part : batch.parts) {
      if (part.read != nullptr) Take(part);
      PENSTOCK_TRY(Finish(*part.item));
    }
    return Ok();
  }

  // Computes the CRC-32 of a part, and copies it if it was received in scratch memory.
  static void Take(const Part& part) {
    Item& item = *part.item;
    const std::byte* const memory = part.scratch.data ? part.scratch.data.get() : MemoryOf(part);
    if (item.is_complete && part.box.IsRun(item.sizes())) {
      PieceCrc piece{static_cast<std::uint64_t>(part.box.First(item.strides)) * item.item_bytes};
      const Runs runs = RunsOf(part);
      runs.ForEach([&](std::uint64_t, std::uint64_t at) {
        piece.crc = Crc32({memory + at, runs.run_bytes()}, piece.crc);
        piece.size += runs.run_bytes();
      });
      item.crcs.push_back(piece);
    }
    if (!part.scratch.data) return;
    const ItemRead& read = *part.read;
    const auto common = part.box.Intersection(read.box);
    if (!common) return;
    std::int64_t from = 0;
    std::int64_t to = 0;
    const Dimensions strides = RowMajorStrides(part.box.lengths);
    for (std::size_t i = 0; i < strides.size(); ++i) {
      from += (common->offsets[i] - part.box.offsets[i]) * strides[i];
      to += (common->offsets[i] - read.box.offsets[i]) * read.memory.strides[i];
    }
    CopyElements(common->lengths, item.item_bytes,
                 memory + static_cast<std::uint64_t>(from) * item.item_bytes, strides,
                 read.memory.data + static_cast<std::uint64_t>(to) * item.item_bytes,
                 read.memory.strides);
  }

  // Counts a part of an item. After the last one, verifies the item.
  Result<void> Finish(Item& item) {
    if (--item.parts_left > 0) return Ok();
    auto taken = item.whole ? TakeWhole(item) : Verify(item);
    item.ends.Free();
    if (taken.ok()) return taken;
    Error& error = taken.error();
    const DcpPlace& place = item.place();
    error.message = "'" + item.tensor->name + "' at bytes " + std::to_string(place.begin) + " to " +
                    std::to_string(place.begin + place.length) + ": " + error.message;
    error.At("LoadDistributed", location_.bucket.value, location_.prefix + place.path);
    return taken;
  }

  const PickledTensor* Parsed(std::string_view pickle) {
    if (pickles_.size() >= kMaxPickles) pickles_.clear();
    const auto [found, added] = pickles_.try_emplace(std::string(pickle));
    if (added) found->second = ReadTensorPickle(pickle);
    return found->second ? &*found->second : nullptr;
  }

  // Compares an item with the prediction. If it differs, the item is fetched again, whole.
  Result<void> Verify(Item& item) {
    const auto archive = ReadTensorArchive(
        {item.ends.view(0, item.head), item.payload, item.ends.view(item.head, item.tail)});
    const PickledTensor* const tensor = archive ? Parsed(archive->pickle) : nullptr;
    const bool as_predicted =
        tensor != nullptr && archive->payload_begin == item.head &&
        archive->payload_bytes == item.payload && tensor->storage_key == archive->payload_key &&
        tensor->storage_bytes == item.payload && tensor->storage_offset == 0 &&
        tensor->dtype == item.tensor->dtype && tensor->sizes == item.sizes() &&
        SameLayout(item.sizes(), tensor->strides, item.strides);
    if (!as_predicted) {
      refetch_.push_back(&item);
      return Ok();
    }
    std::sort(item.crcs.begin(), item.crcs.end(),
              [](const PieceCrc& one, const PieceCrc& two) { return one.begin < two.begin; });
    std::uint64_t end = 0;
    std::uint32_t crc = 0;
    for (const PieceCrc& piece : item.crcs) {
      if (piece.begin != end) continue;  // read twice, or not all of the payload is one run
      crc = CombineCrc32(crc, piece.crc, piece.size);
      end += piece.size;
    }
    const bool known = archive->payload_crc32 != 0 && end == item.payload;
    if (!known || crc == archive->payload_crc32) return Ok();
    return WrongCrc("data/" + tensor->storage_key, crc, archive->payload_crc32);
  }

  // Takes the elements from an item that was fetched whole.
  Result<void> TakeWhole(Item& item) {
    const ByteView bytes = item.ends.view(0, item.head);
    PENSTOCK_TRY(VerifyArchive(AsText(bytes)));
    const auto archive = ReadTensorArchive({{}, 0, bytes});
    const PickledTensor* const tensor = archive ? Parsed(archive->pickle) : nullptr;
    if (tensor == nullptr) {
      PENSTOCK_TRY(ReadStateArchive(AsText(bytes), {}, item.tensor->name));
      return Error::Make(ErrorKind::kUnsupported, "the item is not one plain tensor");
    }
    PENSTOCK_TRY(CheckStorage({item.tensor->name, *tensor}, archive->payload_bytes));
    if (tensor->dtype != item.tensor->dtype || tensor->sizes != item.sizes()) {
      return Error::Make(ErrorKind::kUnsupported,
                         "the item is a tensor of dtype " + tensor->dtype +
                             " and another dtype or size than .metadata states");
    }
    for (const ItemRead* read : item.reads) {
      const auto first =
          static_cast<std::uint64_t>(tensor->storage_offset + read->box.First(tensor->strides));
      CopyElements(read->box.lengths, item.item_bytes,
                   bytes.data() + archive->payload_begin + first * item.item_bytes, tensor->strides,
                   read->memory.data, read->memory.strides);
    }
    return Ok();
  }

  static constexpr std::size_t kMaxPickles = 4096;
  const ItemLocation& location_;
  std::map<std::pair<std::string, std::uint64_t>, Item> items_;  // by path and offset
  std::map<std::uint64_t, std::uint64_t> trailers_;              // bytes, by kind
  std::vector<Item*> refetch_;                                   // their prediction was wrong
  std::unordered_map<std::string, std::optional<PickledTensor>> pickles_;  // most are equal
  Batch open_;
  std::map<std::uint64_t, Batch> batches_;  // in flight, by token
  std::uint64_t last_token_ = 0;
  std::uint64_t bytes_ = 0;    // in flight
  std::uint64_t scratch_ = 0;  // in flight
  BatchReader reader_;         // the last member: its destructor waits, then memory is freed
};

}  // namespace

Result<void> LoadItems(const LoadContext& context, const ItemLocation& location,
                       const std::vector<ItemRead>& reads) {
  PENSTOCK_TRY(CheckMayBlock("loading a checkpoint"));
  return Loader(context, location).Run(reads);
}

Result<std::vector<std::string>> ReadItemBytes(const LoadContext& context,
                                               const ItemLocation& location,
                                               const std::vector<DcpPlace>& places,
                                               std::uint64_t window_bytes) {
  PENSTOCK_TRY(CheckMayBlock("loading a checkpoint"));
  constexpr std::uint64_t kMaxItemBytes = std::uint64_t{1} << 30;
  std::vector<std::string> items(places.size());
  for (const DcpPlace& place : places) {
    if (place.length > kMaxItemBytes) {
      return Error::Make(ErrorKind::kResourceExhausted,
                         "an item has " + std::to_string(place.length) + " bytes, the limit is " +
                             std::to_string(kMaxItemBytes));
    }
  }
  BatchReader reader(context);
  std::uint64_t requested = 0;  // bytes in flight
  for (std::size_t i = 0; i < places.size(); ++i) {
    while (reader.in_flight() > 0 && requested + places[i].length > window_bytes) {
      PENSTOCK_ASSIGN(const std::uint64_t done, reader.Next());
      requested -= places[done].length;
    }
    requested += places[i].length;
    items[i].resize(places[i].length);
    if (items[i].empty()) continue;
    const MutableByteView memory(reinterpret_cast<std::byte*>(items[i].data()), items[i].size());
    reader.Start(
        {location.bucket, ObjectKey(location.prefix + places[i].path), {{places[i].begin, memory}}},
        i);
  }
  while (reader.in_flight() > 0) PENSTOCK_TRY(reader.Next());
  return items;
}

}  // namespace penstock::checkpoint
