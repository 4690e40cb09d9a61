#include "client/checkpoint/load/verification/trailer_sizes.h"

namespace penstock::checkpoint {
namespace {
constexpr std::uint64_t kZip64Bytes = 0xFFFF'0000;  // from this size on, zip64 fields
}

std::uint64_t KindOfTrailer(std::uint64_t payload) {
  const std::uint64_t kind = payload == 0 ? kPayloadAlignment : payload % kPayloadAlignment;
  return kind * 2 + (payload >= kZip64Bytes ? 1 : 0);
}

std::optional<std::uint64_t> LearnedTrailers::Find(std::uint64_t payload,
                                                   std::uint64_t around) const {
  const auto found = by_kind_.find(KindOfTrailer(payload));
  if (found == by_kind_.end() || around <= found->second ||
      (around - found->second) % kPayloadAlignment != 0)
    return std::nullopt;
  return found->second;
}

void LearnedTrailers::Learn(std::uint64_t payload, std::uint64_t trailer) {
  by_kind_[KindOfTrailer(payload)] = trailer;
}

}  // namespace penstock::checkpoint
