#include "client/checkpoint/boxes.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

namespace penstock::checkpoint {
namespace {

constexpr std::int64_t kShortGapBytes = 32 << 10;

}  // namespace

Dimensions RowMajorStrides(std::span<const std::int64_t> sizes) {
  Dimensions strides(sizes.size());
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  return strides;
}

std::int64_t Box::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t length : lengths) count *= length;
  return count;
}

std::int64_t Box::First(std::span<const std::int64_t> strides) const {
  std::int64_t first = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i) first += offsets[i] * strides[i];
  return first;
}

bool Box::IsWithin(std::span<const std::int64_t> sizes) const {
  if (offsets.size() != sizes.size() || lengths.size() != sizes.size()) return false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (offsets[i] < 0 || lengths[i] < 0 || offsets[i] > sizes[i] ||
        lengths[i] > sizes[i] - offsets[i])
      return false;
  }
  return true;
}

bool Box::IsRun(std::span<const std::int64_t> sizes) const {
  bool begun = false;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (begun && lengths[i] != sizes[i]) return false;
    begun = begun || lengths[i] > 1;
  }
  return true;
}

std::vector<Box> Box::Parts(std::int64_t most) const {
  const std::int64_t count = elements();
  if (count <= std::max<std::int64_t>(most, 1)) return {*this};
  std::size_t dimension = 0;
  while (lengths[dimension] == 1) ++dimension;
  const std::int64_t inside = count / lengths[dimension];
  const std::int64_t step = std::max<std::int64_t>(1, most / inside);
  std::vector<Box> parts;
  for (std::int64_t start = 0; start < lengths[dimension]; start += step) {
    Box part = *this;
    part.offsets[dimension] += start;
    part.lengths[dimension] = std::min(step, lengths[dimension] - start);
    for (Box& each : part.Parts(most)) parts.push_back(std::move(each));
  }
  return parts;
}

Box Box::Widened(std::span<const std::int64_t> sizes, std::uint64_t item_bytes) const {
  Box wide = *this;
  const Dimensions strides = RowMajorStrides(sizes);
  const auto item = static_cast<std::int64_t>(item_bytes);
  for (std::size_t i = sizes.size(); i-- > 1;) {
    std::int64_t row = item;
    for (std::size_t inner = i; inner < sizes.size(); ++inner) row *= wide.lengths[inner];
    if (row >= static_cast<std::int64_t>(kShortRowBytes) ||
        strides[i - 1] * item - row > kShortGapBytes)
      break;
    wide.offsets[i] = 0;
    wide.lengths[i] = sizes[i];
  }
  return wide;
}

std::optional<Box> Box::Intersection(const Box& other) const {
  Box common;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t begin = std::max(offsets[i], other.offsets[i]);
    const std::int64_t end = std::min(offsets[i] + lengths[i], other.offsets[i] + other.lengths[i]);
    if (end <= begin) return std::nullopt;
    common.offsets.push_back(begin);
    common.lengths.push_back(end - begin);
  }
  return common;
}

Box Box::Hull(const Box& other) const {
  Box hull = *this;
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    hull.offsets[i] = std::min(offsets[i], other.offsets[i]);
    hull.lengths[i] =
        std::max(offsets[i] + lengths[i], other.offsets[i] + other.lengths[i]) - hull.offsets[i];
  }
  return hull;
}

bool Box::Overlaps(const Box& other) const {
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const std::int64_t begin = std::max(offsets[i], other.offsets[i]);
    const std::int64_t end = std::min(offsets[i] + lengths[i], other.offsets[i] + other.lengths[i]);
    if (end <= begin) return false;
  }
  return true;
}

Runs::Runs(std::span<const std::int64_t> lengths, std::span<const std::int64_t> from,
           std::span<const std::int64_t> to, std::uint64_t item_bytes)
    : run_bytes_(item_bytes) {
  for (std::size_t i = lengths.size(); i-- > 0;) {
    const auto count = static_cast<std::uint64_t>(lengths[i]);
    if (count <= 1) continue;
    const std::uint64_t from_step = static_cast<std::uint64_t>(from[i]) * item_bytes;
    const std::uint64_t to_step = static_cast<std::uint64_t>(to[i]) * item_bytes;
    if (levels_.empty() && from_step == run_bytes_ && to_step == run_bytes_) {
      run_bytes_ *= count;
    } else {
      levels_.push_back({count, from_step, to_step});
    }
  }
  if (std::find(lengths.begin(), lengths.end(), 0) == lengths.end()) return;
  run_bytes_ = 0;
  levels_.clear();
}

bool Runs::overlap() const {
  std::vector<Level> levels = levels_;
  std::sort(levels.begin(), levels.end(),
            [](const Level& one, const Level& other) { return one.to_step < other.to_step; });
  std::uint64_t end = run_bytes_;
  for (const Level& level : levels) {
    if (level.to_step < end) return true;
    end += (level.count - 1) * level.to_step;
  }
  return false;
}

void Runs::ForEach(const std::function<void(std::uint64_t, std::uint64_t)>& visit) const {
  if (run_bytes_ == 0) return;
  std::vector<std::uint64_t> at(levels_.size(), 0);
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  for (;;) {
    visit(from, to);
    std::size_t level = 0;
    for (; level < levels_.size(); ++level) {
      from += levels_[level].from_step;
      to += levels_[level].to_step;
      if (++at[level] < levels_[level].count) break;
      from -= levels_[level].from_step * levels_[level].count;
      to -= levels_[level].to_step * levels_[level].count;
      at[level] = 0;
    }
    if (level == levels_.size()) return;
  }
}

void CopyElements(std::span<const std::int64_t> lengths, std::uint64_t item_bytes,
                  const std::byte* from, std::span<const std::int64_t> from_strides, std::byte* to,
                  std::span<const std::int64_t> to_strides) {
  const Runs runs(lengths, from_strides, to_strides, item_bytes);
  runs.ForEach([&](std::uint64_t from_offset, std::uint64_t to_offset) {
    std::memcpy(to + to_offset, from + from_offset, runs.run_bytes());
  });
}

bool AnyOverlap(std::vector<Box> boxes) {
  std::size_t best = 0;
  std::size_t most = 0;
  double shortest = 0;
  const std::size_t dimensions = boxes.empty() ? 0 : boxes.front().offsets.size();
  for (std::size_t i = 0; i < dimensions; ++i) {
    std::unordered_set<std::int64_t> begins;
    double length = 0;  // of all boxes; not an integer, which could overflow
    for (const Box& box : boxes) {
      begins.insert(box.offsets[i]);
      length += static_cast<double>(box.lengths[i]);
    }
    if (begins.size() < most || (begins.size() == most && length >= shortest)) continue;
    most = begins.size();
    shortest = length;
    best = i;
  }
  if (most == 0) return boxes.size() > 1;  // of a tensor without dimensions
  std::sort(boxes.begin(), boxes.end(), [best](const Box& one, const Box& other) {
    return one.offsets[best] < other.offsets[best];
  });
  std::vector<const Box*> open;  // boxes that end after the start of `box`
  for (const Box& box : boxes) {
    std::erase_if(open, [&](const Box* other) {
      return other->offsets[best] + other->lengths[best] <= box.offsets[best];
    });
    for (const Box* const other : open) {
      if (other->Overlaps(box)) return true;
    }
    open.push_back(&box);
  }
  return false;
}

}  // namespace penstock::checkpoint
