// Boxes of tensors, and the runs of bytes in which they lie in memory. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_BOXES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_BOXES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace penstock::checkpoint {

using Dimensions = std::vector<std::int64_t>;

// The strides, in elements, of a contiguous tensor.
Dimensions RowMajorStrides(std::span<const std::int64_t> sizes);

// The elements [offsets, offsets + lengths) of a tensor, one number per dimension.
struct Box {
  Dimensions offsets;
  Dimensions lengths;

  bool operator==(const Box&) const = default;

  // Number of elements. Requires that it fits 63 bits, as for a box of a tensor in memory.
  std::int64_t elements() const;
  // Offset of the first element in a tensor with these strides, in elements.
  std::int64_t First(std::span<const std::int64_t> strides) const;
  // Whether the box is within a tensor of `sizes`.
  bool IsWithin(std::span<const std::int64_t> sizes) const;
  // Whether the box is one range of bytes of a contiguous tensor of `sizes`.
  bool IsRun(std::span<const std::int64_t> sizes) const;
  // Splits the box into parts of at most `most` elements, but at least one, in row-major order.
  std::vector<Box> Parts(std::int64_t most) const;
  // Extends the box over the gaps between its rows where rows are short and close together in a
  // contiguous tensor of `sizes`: reading the gaps costs less than skipping them.
  Box Widened(std::span<const std::int64_t> sizes, std::uint64_t item_bytes) const;
  // The elements of both; nullopt if there are none. Requires equal numbers of dimensions.
  std::optional<Box> Intersection(const Box& other) const;
  // The smallest box with the elements of both. Requires equal numbers of dimensions.
  Box Hull(const Box& other) const;
  // Whether there is an element of both. Requires equal numbers of dimensions.
  bool Overlaps(const Box& other) const;
};

// Whether two of the boxes share elements. Requires that no box is empty, and equal numbers of
// dimensions. Sweeps along the dimension in which most boxes begin at different places, and of
// those the one with the shortest boxes, so that each box is compared with few others.
bool AnyOverlap(std::vector<Box> boxes);

// Shorter rows are read into scratch memory instead of their destination.
inline constexpr std::uint64_t kShortRowBytes = 4096;

// The runs in which elements are contiguous on both sides.
class Runs {
 public:
  // `lengths`: of a box. `from` and `to`: strides of both sides, in elements.
  Runs(std::span<const std::int64_t> lengths, std::span<const std::int64_t> from,
       std::span<const std::int64_t> to, std::uint64_t item_bytes);

  std::uint64_t run_bytes() const { return run_bytes_; }
  // Whether runs are long enough to be received one by one.
  bool are_long() const { return levels_.empty() || run_bytes_ >= kShortRowBytes; }
  bool is_one() const { return levels_.empty(); }
  // Whether runs share bytes on the side `to`, as in an expanded tensor.
  bool overlap() const;
  // Calls `visit` with the byte offsets of each run on both sides, in row-major order.
  void ForEach(const std::function<void(std::uint64_t from, std::uint64_t to)>& visit) const;

 private:
  struct Level {
    std::uint64_t count = 0;
    std::uint64_t from_step = 0;  // Bytes.
    std::uint64_t to_step = 0;
  };
  std::uint64_t run_bytes_;
  std::vector<Level> levels_;  // Innermost first.
};

// Copies elements between memories that do not overlap. Strides are in elements.
void CopyElements(std::span<const std::int64_t> lengths, std::uint64_t item_bytes,
                  const std::byte* from, std::span<const std::int64_t> from_strides, std::byte* to,
                  std::span<const std::int64_t> to_strides);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_BOXES_H_
