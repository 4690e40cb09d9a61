#include "client/checkpoint/load/item_load.h"

#include <map>
#include <utility>

#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/load/state_file.h"
#include "penstock/base/blocking.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {
namespace {

constexpr std::uint64_t kSmallItemBytes = 64 << 10;  // fetched whole

// An item and its reads.
struct Stored {
  LoadItem item;
  const ItemRead* first = nullptr;
};

Result<LoadItem> Describe(const ItemLocation& location, const ItemRead& read) {
  const DcpPlace& place = read.chunk->place;
  if (!place.transforms.empty()) {
    return Error::Make(ErrorKind::kUnsupported,
                       "'" + read.tensor->name + "' was encoded by the extension " +
                           place.transforms + "; items with extensions are not supported");
  }
  const DtypeInfo* const dtype = FindDtype(read.tensor->dtype);
  const Dimensions& sizes = read.chunk->box.lengths;
  if (dtype == nullptr || !DenseBytes(sizes, dtype->item_bytes)) {
    return Error::Make(ErrorKind::kUnsupported, "'" + read.tensor->name + "' has the dtype " +
                                                    read.tensor->dtype +
                                                    ", which is not supported, or is too large");
  }
  LoadItem item;
  item.name = read.tensor->name;
  item.bucket = location.bucket;
  item.key = ObjectKey(location.prefix + place.path);
  item.begin = place.begin;
  item.length = place.length;
  item.dtype = read.tensor->dtype;
  item.item_bytes = dtype->item_bytes;
  item.sizes = sizes;
  item.crc32s = place.crc32s;
  return item;
}

// All reads of an item use its dtype, its sizes and its length, so that they must agree.
Result<void> CheckSame(const ItemRead& read, const ItemRead& first) {
  const DcpPlace& place = read.chunk->place;
  const DcpPlace& same = first.chunk->place;
  if (read.tensor->dtype == first.tensor->dtype &&
      read.chunk->box.lengths == first.chunk->box.lengths && place.length == same.length &&
      place.transforms == same.transforms)
    return Ok();
  return Error::Make(
      ErrorKind::kDataLoss,
      "two chunks name one place: '" + first.tensor->name + "' and '" + read.tensor->name +
          "' differ in dtype, size or length and are both at byte " + std::to_string(place.begin) +
          " of '" + place.path + "': the metadata of the checkpoint is invalid");
}

// The items of all reads, in the order of their places.
Result<std::vector<LoadItem>> ItemsOf(const ItemLocation& location,
                                      const std::vector<ItemRead>& reads) {
  std::map<std::pair<std::string, std::uint64_t>, Stored> by_place;
  for (const ItemRead& read : reads) {
    const DcpPlace& place = read.chunk->place;
    const auto [found, added] = by_place.try_emplace({place.path, place.begin});
    Stored& stored = found->second;
    if (added) {
      PENSTOCK_ASSIGN(stored.item, Describe(location, read));
      stored.first = &read;
    } else {
      PENSTOCK_TRY(CheckSame(read, *stored.first));
    }
    stored.item.reads.push_back(
        {read.box, read.memory, stored.item.item_bytes, read.position, true});
  }
  std::vector<LoadItem> items;
  items.reserve(by_place.size());
  for (auto& [place, stored] : by_place) items.push_back(std::move(stored.item));
  return items;
}

// Takes the elements from an item that was fetched whole.
Result<void> TakeWhole(const LoadItem& item, const std::vector<std::size_t>& reads,
                       ByteView bytes) {
  PENSTOCK_TRY(VerifyArchive(AsText(bytes)));
  const auto archive = ReadTensorArchive({{}, 0, bytes});
  const auto tensor = archive ? ReadTensorPickle(archive->pickle) : std::nullopt;
  if (!tensor) {
    PENSTOCK_TRY(ReadStateArchive(AsText(bytes), {}, item.name));
    return Error::Make(ErrorKind::kUnsupported, "the item is not one plain tensor");
  }
  PENSTOCK_TRY(CheckStorage({item.name, *tensor}, archive->payload_bytes));
  if (tensor->dtype != item.dtype || tensor->sizes != item.sizes) {
    return Error::Make(ErrorKind::kUnsupported, "the item is a tensor of dtype " + tensor->dtype +
                                                    " and another dtype or size than .metadata "
                                                    "states");
  }
  for (const std::size_t index : reads) {
    const BoxRead& read = item.reads[index];
    const auto first =
        static_cast<std::uint64_t>(tensor->storage_offset + read.box.First(tensor->strides));
    CopyElements(read.box.lengths, item.item_bytes,
                 bytes.data() + archive->payload_begin + first * item.item_bytes, tensor->strides,
                 read.memory.data, read.memory.strides);
  }
  return Ok();
}

}  // namespace

Result<void> LoadItems(const LoadContext& context, const ItemLocation& location,
                       const std::vector<ItemRead>& reads, bool verifies_all) {
  PENSTOCK_TRY(CheckMayBlock("loading a checkpoint"));
  PENSTOCK_ASSIGN(const std::vector<LoadItem> items, ItemsOf(location, reads));
  LearnedTrailers trailers;
  EngineLimits limits;
  limits.probe_bytes = kSmallItemBytes;
  limits.verifies_all = verifies_all;
  ItemEngine engine(context, trailers, limits);
  for (std::size_t i = 0; i < items.size(); ++i) {
    PENSTOCK_TRY(engine.Add(i, items[i]));
    engine.Start();
  }
  while (!engine.is_idle()) {
    PENSTOCK_ASSIGN(const std::vector<LoadEvent> events, engine.Next(true));
    for (const LoadEvent& event : events) {
      if (event.kind != LoadEvent::Kind::kWhole) continue;
      const LoadItem& item = items[event.token];
      auto taken = TakeWhole(item, event.reads, event.bytes);
      if (taken.ok()) continue;
      Error& error = taken.error();
      error.message = DescribeItem(item) + ": " + error.message;
      error.At("LoadDistributed", item.bucket.value, item.key.value);
      return taken;
    }
  }
  return Ok();
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
                         "an item of '" + location.prefix + place.path + "' has " +
                             std::to_string(place.length) + " bytes, the limit is " +
                             std::to_string(kMaxItemBytes) +
                             "; load it with torch.distributed.checkpoint and S3StorageReader");
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
