#include "client/checkpoint/load/pending_item.h"

#include <algorithm>
#include <utility>

#include "client/checkpoint/archive_index.h"
#include "client/checkpoint/dtypes.h"
#include "client/checkpoint/load/scratch_pool.h"
#include "client/checkpoint/load/verification/rest_of_pieces.h"
#include "client/checkpoint/piece_crcs.h"

namespace penstock::checkpoint {
namespace {

// Whether a tensor fills one memory range without gaps or overlaps, in any order of dimensions.
bool IsDense(const Dimensions& sizes, const Dimensions& strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1) steps.emplace_back(strides[i], sizes[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t expected = 1;
  for (const auto& [stride, size] : steps) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

// Reads that take elements from the same box in scratch memory, as a list.
struct SharedBox {
  PlannedRead* first = nullptr;
  PlannedRead* last = nullptr;
  Box box;
};

// Adds reads. Boxes that overlap become one, so that no byte is received twice, unless that adds
// bytes.
void Share(SharedBox added, std::vector<SharedBox>& shared) {
  for (std::size_t i = 0; i < shared.size();) {
    SharedBox& other = shared[i];
    Box hull = added.box.Hull(other.box);
    if (!added.box.Overlaps(other.box) ||
        hull.elements() > added.box.elements() + other.box.elements()) {
      ++i;
      continue;
    }
    other.last->next = added.first;
    added = {other.first, added.last, std::move(hull)};
    std::swap(other, shared.back());
    shared.pop_back();
    i = 0;
  }
  shared.push_back(std::move(added));
}

// The first of a list of reads that wants elements of `box`; null: none does.
const PlannedRead* FirstWanted(const Box& box, const PlannedRead* reads) {
  while (reads != nullptr && !box.Overlaps(reads->to.box)) reads = reads->next;
  return reads;
}

}  // namespace

bool IsSameLayout(const Dimensions& sizes, const Dimensions& one, const Dimensions& other) {
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return true;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && one[i] != other[i]) return false;
  }
  return true;
}

PendingItem::PendingItem(std::uint64_t its_token, LoadItem its_source) : token(its_token) {
  for (std::size_t i = 0; i < its_source.reads.size(); ++i)
    reads.push_back({i, std::move(its_source.reads[i])});
  its_source.reads.clear();
  source = std::move(its_source);
  Describe();
}

PendingItem::PendingItem(const PendingItem& other, std::vector<PlannedRead> its_reads)
    : token(other.token), source(other.source), reads(std::move(its_reads)) {
  Describe();
}

void PendingItem::Describe() {
  if (source.dtype.empty()) return;
  const auto bytes = DenseBytes(source.sizes, source.item_bytes);
  if (!bytes) return;
  for (const PlannedRead& read : reads) {
    if (!read.to.box.IsWithin(source.sizes)) return;
  }
  is_declared = true;
  payload = *bytes;
  piece_bytes = payload;
  if (source.crc32s.empty()) return;
  // The item may contain another tensor than `.metadata` describes, and these be its CRC-32s.
  const std::uint64_t piece = PieceBytes(source.sizes, source.item_bytes);
  has_other_pieces = source.crc32s.size() != PieceCount(payload, piece);
  if (!has_other_pieces) piece_bytes = piece;
}

std::uint64_t PendingItem::BytesOf(const Box& box) const {
  return static_cast<std::uint64_t>(box.elements()) * source.item_bytes;
}

std::uint64_t PendingItem::PayloadOffset(const Box& box) const {
  return static_cast<std::uint64_t>(box.First(strides)) * source.item_bytes;
}

Runs PendingItem::RunsOf(const PlannedRead& read, const Box& box) const {
  const Dimensions to =
      read.mode == ReadMode::kScratch ? RowMajorStrides(box.lengths) : read.to.memory.strides;
  return Runs(box.lengths, strides, to, source.item_bytes);
}

bool PendingItem::IsOneRun() const {
  return reads.size() == 1 && reads[0].mode == ReadMode::kRun && reads[0].run_bytes == payload;
}

void PendingItem::PlanUnits(const EngineLimits& limits, std::uint64_t& extra_bytes) {
  std::uint64_t wanted = 0;
  for (const PlannedRead& read : reads) wanted += BytesOf(read.to.box);
  std::uint64_t scratch = head + tail;
  std::uint64_t size = scratch + wanted;
  for (PlannedRead& read : reads) {
    ChooseMode(read);
    AddUnits(read, limits);
  }
  scratch += AddScratchUnits(limits);
  std::uint64_t again = limits.verifies_all ? payload : rest_bytes;
  if (!is_repeated) extra_bytes += wanted / limits.extra_share;
  scratch += AddRest(is_repeated || limits.verifies_all ? again : extra_bytes);
  size += rest_bytes;
  ExpectUnits();
  if (limits.verifies_all && wanted > 0 && !(may_check && crc.expects_pieces_once())) {
    scratch = head + tail + AddWholePayload(limits);
    size = head + tail + payload;
    ExpectUnits();
  }
  at_once = size <= limits.unit_bytes && scratch <= limits.part_bytes;
}

// Completes pieces if each unit is contiguous in the payload. Returns the bytes of scratch memory
// that it needs.
std::uint64_t PendingItem::AddRest(std::uint64_t& extra_bytes) {
  if (piece_bytes == 0 || piece_bytes > kMaxPieceBytes) return 0;
  std::vector<ByteRange> ranges;
  for (const ReadUnit& unit : units) {
    const bool is_run = unit.read->mode == ReadMode::kRun;
    if (!is_run && !unit.box.IsRun(source.sizes)) return 0;
    const std::uint64_t begin =
        is_run ? unit.read->run_begin + unit.begin : PayloadOffset(unit.box);
    ranges.push_back({begin, begin + unit.size});
  }
  rest.mode = ReadMode::kRest;
  const std::uint64_t before = extra_bytes;
  std::uint64_t scratch = 0;
  for (const auto& [begin, end] :
       RestOfPieces(std::move(ranges), payload, piece_bytes, extra_bytes)) {
    units.push_back({&rest, begin, end - begin, {}});
    scratch += end - begin + ScratchPool::kAlignment;
  }
  rest_bytes = before - extra_bytes;
  return scratch;
}

void PendingItem::ExpectUnits() {
  crc = PayloadCrc(payload, piece_bytes);
  may_check = false;
  std::uint64_t requested = 0;
  for (const ReadUnit& unit : units) requested += unit.size;
  const std::uint64_t last = piece_bytes == 0 ? 0 : payload % piece_bytes;
  if (requested < (last == 0 ? piece_bytes : last)) return;  // no piece can be complete
  for (const ReadUnit& unit : units) {
    ForEachRange(unit, [&](std::uint64_t begin, std::uint64_t, std::uint64_t bytes) {
      crc.Expect(begin, bytes);
    });
  }
  may_check = crc.may_complete();
}

template <class Visit>
void PendingItem::ForEachRange(const ReadUnit& unit, const Visit& visit) const {
  const PlannedRead& read = *unit.read;
  if (read.mode == ReadMode::kRun || read.mode == ReadMode::kRest)
    return visit(read.run_begin + unit.begin, 0, unit.size);
  const std::uint64_t begin = PayloadOffset(unit.box);
  const Runs runs = RunsOf(read, unit.box);
  runs.ForEach(
      [&](std::uint64_t from, std::uint64_t to) { visit(begin + from, to, runs.run_bytes()); });
}

void PendingItem::ChooseMode(PlannedRead& read) {
  read.mode = ReadMode::kScratch;
  read.next = nullptr;
  const BoxRead& to = read.to;
  if (!to.is_direct) return;
  const Runs runs(to.box.lengths, strides, to.memory.strides, source.item_bytes);
  const bool is_whole_tensor = reads.size() == 1 && to.box.lengths == source.sizes;
  if (runs.is_one()) {
    read.mode = ReadMode::kRun;
    read.run_begin = PayloadOffset(to.box);
    read.run_bytes = runs.run_bytes();
  } else if (is_whole_tensor && IsDense(source.sizes, to.memory.strides)) {
    // Predict that the stored strides are those of the memory: it was most likely saved from such
    // a tensor.
    read.mode = ReadMode::kRun;
    read.run_bytes = payload;
    strides = to.memory.strides;
  } else if (runs.are_long() && !runs.overlap()) {
    read.mode = ReadMode::kRows;
  }
}

// Splits a read that is received in place.
void PendingItem::AddUnits(PlannedRead& read, const EngineLimits& limits) {
  if (read.mode == ReadMode::kRun) {
    for (std::uint64_t at = 0; at < read.run_bytes; at += limits.unit_bytes)
      units.push_back({&read, at, std::min(limits.unit_bytes, read.run_bytes - at), {}});
  } else if (read.mode == ReadMode::kRows && read.to.box.elements() > 0) {
    const std::uint64_t most = limits.unit_bytes / source.item_bytes;
    for (Box& part : read.to.box.Parts(static_cast<std::int64_t>(most)))
      units.push_back({&read, 0, BytesOf(part), std::move(part)});
  }
}

// Splits the reads that are received in scratch memory. Returns the bytes of it that they need.
std::uint64_t PendingItem::AddScratchUnits(const EngineLimits& limits) {
  std::vector<SharedBox> shared;
  for (PlannedRead& read : reads) {
    if (read.mode == ReadMode::kScratch && read.to.box.elements() > 0)
      Share({&read, &read, read.to.box.Widened(source.sizes, source.item_bytes)}, shared);
  }
  const auto most = static_cast<std::int64_t>(limits.part_bytes / source.item_bytes);
  std::uint64_t scratch = 0;
  for (const auto& [first, last, box] : shared) {
    for (Box& part : box.Parts(most)) {
      if (FirstWanted(part, first) == nullptr) continue;  // a piece of the gap between rows
      scratch += BytesOf(part) + ScratchPool::kAlignment;
      units.push_back({first, 0, BytesOf(part), std::move(part)});
    }
  }
  return scratch;
}

// Receives the whole payload in scratch memory instead, for all reads. Returns the bytes of it that
// they need.
std::uint64_t PendingItem::AddWholePayload(const EngineLimits& limits) {
  units.clear();
  rest_bytes = 0;
  PlannedRead* next = nullptr;
  for (PlannedRead& read : reads) {
    read.mode = ReadMode::kScratch;
    read.next = std::exchange(next, &read);
  }
  strides = RowMajorStrides(source.sizes);
  const Box all{Dimensions(source.sizes.size()), source.sizes};
  std::uint64_t scratch = 0;
  for (Box& part : all.Parts(static_cast<std::int64_t>(limits.part_bytes / source.item_bytes))) {
    scratch += BytesOf(part) + ScratchPool::kAlignment;
    units.push_back({next, 0, BytesOf(part), std::move(part)});
  }
  return scratch;
}

void PendingItem::Restart() {
  is_prepared = false;
  crc = PayloadCrc();
  units.clear();
  next_unit = 0;
  parts.clear();
  whole_payload = nullptr;
}

void PendingItem::AddCrc(const ReadUnit& unit, const std::byte* memory) {
  if (!may_check) return;
  ForEachRange(unit, [&](std::uint64_t begin, std::uint64_t at, std::uint64_t bytes) {
    crc.Add(begin, {memory + at, bytes});
  });
}

Result<void> PendingItem::CheckPieceCount() const {
  if (!has_other_pieces) return Ok();
  const std::uint64_t pieces = PieceCount(payload, PieceBytes(source.sizes, source.item_bytes));
  return Error::Make(ErrorKind::kDataLoss,
                     "item '" + source.name + "' has the checksums of " +
                         std::to_string(source.crc32s.size()) + " pieces, and its tensor has " +
                         std::to_string(pieces) + ": the metadata of the checkpoint is invalid");
}

Result<void> PendingItem::CheckCrcs(std::uint32_t expected) const {
  const int reads_done = is_repeated ? 2 : 1;
  for (std::size_t i = 0; i < source.crc32s.size(); ++i) {
    const std::optional<std::uint32_t> found = crc.OfPiece(i);
    if (!found || *found == source.crc32s[i]) continue;
    const std::uint64_t begin = i * piece_bytes;
    const std::uint64_t end = std::min(payload, begin + piece_bytes);
    const std::uint64_t at = source.begin + head;
    return WrongCrcOfBytes(DescribeBytes(source, at + begin, at + end), *found, source.crc32s[i],
                           reads_done);
  }
  const std::optional<std::uint32_t> found = expected == 0 ? std::nullopt : crc.OfAll();
  if (!found || *found == expected) return Ok();
  return WrongCrcOfBytes(DescribeItem(source), *found, expected, reads_done);
}

Result<bool> PendingItem::Reorder(const Dimensions& stored) const {
  const auto bytes = StridedBytes(source.sizes, stored, source.item_bytes);
  if (!bytes || *bytes > payload) return false;
  const StridedMemory& memory = reads[0].to.memory;
  PENSTOCK_ASSIGN(const std::shared_ptr<ScratchMemory> copy, AllocateFromHeap(payload));
  std::byte* const elements = copy->bytes().data();
  std::copy_n(memory.data, payload, elements);
  CopyElements(source.sizes, source.item_bytes, elements, stored, memory.data, memory.strides);
  return true;
}

void CopyWanted(const Box& box, const BoxRead& read, const std::byte* scratch,
                std::uint64_t item_bytes) {
  const Box common = *box.Intersection(read.box);
  const Dimensions strides = RowMajorStrides(box.lengths);
  const auto step = static_cast<std::int64_t>(item_bytes);
  std::int64_t from = 0;
  std::int64_t into = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    from += (common.offsets[i] - box.offsets[i]) * strides[i];
    into += (common.offsets[i] - read.box.offsets[i]) * read.memory.strides[i];
  }
  CopyElements(common.lengths, item_bytes, scratch + from * step, strides,
               read.memory.data + into * step, read.memory.strides);
}

}  // namespace penstock::checkpoint
