// The sizes of the trailers of items: how much of an item of a checkpoint follows the payload.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_TRAILER_SIZES_H_
#define PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_TRAILER_SIZES_H_

#include <cstdint>
#include <map>
#include <optional>

namespace penstock::checkpoint {

// Payloads begin at multiples of this number of bytes in files of torch.
inline constexpr std::uint64_t kPayloadAlignment = 64;

// Payloads of one kind have trailers of one size in files of one program.
std::uint64_t KindOfTrailer(std::uint64_t payload);

// The sizes of trailers, the bytes of an item after its payload. They depend on the payload's size
// modulo 64, on zip64 fields, and on the program that wrote the item.
class TrailerSizes {
 public:
  virtual ~TrailerSizes() = default;
  // `around`: bytes of the item besides the payload. Returns nullopt if the size is unknown.
  virtual std::optional<std::uint64_t> Find(std::uint64_t payload, std::uint64_t around) const = 0;
  virtual void Learn(std::uint64_t payload, std::uint64_t trailer) = 0;
};

// Knows only what it learns.
class LearnedTrailers final : public TrailerSizes {
 public:
  std::optional<std::uint64_t> Find(std::uint64_t payload, std::uint64_t around) const override;
  void Learn(std::uint64_t payload, std::uint64_t trailer) override;

 private:
  std::map<std::uint64_t, std::uint64_t> by_kind_;
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_LOAD_VERIFICATION_TRAILER_SIZES_H_
