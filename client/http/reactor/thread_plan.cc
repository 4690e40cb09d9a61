#include "client/http/reactor/thread_plan.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <utility>

namespace penstock::http {
namespace {

constexpr int kMostForAll = 4;
constexpr int kMostByCores = 16;
constexpr int kPartForLarge = 4;  // of the connections: a quarter belongs to the other threads

// Returns the length of "bytes=BEGIN-END"; 0 for other ranges.
std::uint64_t LengthOf(std::string_view range) {
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return 0;
  range.remove_prefix(kUnit.size());
  std::uint64_t begin = 0;
  std::uint64_t last = 0;
  const char* const end = range.data() + range.size();
  const auto first = std::from_chars(range.data(), end, begin);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return 0;
  const auto second = std::from_chars(first.ptr + 1, end, last);
  if (second.ec != std::errc() || second.ptr != end || last < begin) return 0;
  return last - begin + 1;
}

}  // namespace

ThreadPlan PlanThreads(int cores, int io_threads, int max_transfers) {
  ThreadPlan plan;
  plan.threads =
      std::min(io_threads > 0 ? io_threads : std::clamp(cores / 2, 1, kMostByCores), max_transfers);
  plan.for_all = io_threads > 0 ? plan.threads : std::min(plan.threads, kMostForAll);
  const int others = plan.threads - plan.for_all;
  if (others > 0) plan.connections_for_large = std::max(1, max_transfers / kPartForLarge / others);
  plan.connections =
      std::max(1, (max_transfers - others * plan.connections_for_large) / plan.for_all);
  return plan;
}

bool IsLarge(const Request& request, const RequestBody* body) {
  if (body != nullptr) return body->size() >= kLargeBodyBytes;
  const auto range = FindHeader(request.headers, "range");
  return range && LengthOf(*range) >= kLargeBodyBytes;
}

std::size_t ChooseThread(const ThreadPlan& plan, std::span<const std::size_t> loads,
                         bool is_large) {
  const std::size_t candidates = is_large ? loads.size() : static_cast<std::size_t>(plan.for_all);
  const auto rank = [&](std::size_t thread) {
    const auto free = static_cast<std::size_t>(plan.ConnectionsOf(static_cast<int>(thread)));
    return std::pair(loads[thread] >= free, loads[thread]);
  };
  std::size_t best = 0;
  for (std::size_t thread = 1; thread < candidates; ++thread) {
    if (rank(thread) < rank(best)) best = thread;
  }
  return best;
}

}  // namespace penstock::http
