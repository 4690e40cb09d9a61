#include "emulator/simulate/job.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <sstream>
#include <utility>

namespace penstock::emulator::simulate {
namespace {

constexpr std::uint64_t kMaxParts = 10'000;  // The limit of parts per upload in S3.
constexpr std::array<std::pair<Operation, std::string_view>, 3> kOperationNames{
    {{Operation::kSave, "save"}, {Operation::kLoad, "load"}, {Operation::kList, "list"}}};

// Returns UINT64_MAX instead of a larger number.
std::uint64_t Product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

std::uint64_t Parts(const Job& job) {
  return job.file_bytes == 0 ? 1 : (job.file_bytes + job.part_bytes - 1) / job.part_bytes;
}

Result<void> CheckRange(std::string_view field, std::uint64_t value, std::uint64_t min,
                        std::uint64_t max) {
  if (value >= min && value <= max) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     std::string(field) + " must be " + std::to_string(min) + " to " +
                         std::to_string(max) + ", not " + std::to_string(value));
}

std::string SecondsText(std::chrono::nanoseconds span) {
  std::ostringstream text;
  text.precision(15);
  text << std::chrono::duration<double>(span).count() << " s";
  return text.str();
}

Result<void> CheckRoundTimes(const Job& job) {
  if (job.round_every.count() == 0) return Ok();
  const std::int64_t most = (job.deadline.count() - 1) / job.round_every.count() + 1;
  if (job.rounds <= most) return Ok();
  return Error::Make(ErrorKind::kInvalidArgument,
                     std::to_string(job.rounds) + " rounds every " + SecondsText(job.round_every) +
                         " do not all begin before the deadline of " + SecondsText(job.deadline) +
                         ": use at most " + std::to_string(most) +
                         (most == 1 ? " round" : " rounds") +
                         ", a smaller round_every_s or a larger deadline_s");
}

Result<void> CheckTimes(const Job& job) {
  if (job.round_every.count() < 0 || job.start_spread.count() < 0) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "round_every_s and start_spread_s must not be negative");
  }
  if (job.deadline.count() <= 0 || job.deadline > std::chrono::hours(24 * 30)) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "deadline_s must be more than 0 and at most 30 days");
  }
  return CheckRoundTimes(job);
}

}  // namespace

std::string_view OperationName(Operation operation) {
  for (const auto& [value, name] : kOperationNames) {
    if (value == operation) return name;
  }
  return {};
}

Result<Operation> FindOperation(std::string_view name) {
  for (const auto& [value, candidate] : kOperationNames) {
    if (candidate == name) return value;
  }
  return Error::Make(ErrorKind::kInvalidArgument, "unknown operation '" + std::string(name) +
                                                      "': expected one of save, load, list");
}

std::uint32_t FirstRound(const Job& job) { return job.warm_partitions > 1 ? kPastRounds : 0; }

std::uint64_t RequestsOf(const Job& job) {
  if (job.operation == Operation::kList) return std::uint64_t{job.ranks} * job.rounds;
  const std::uint64_t parts = Parts(job);
  const bool save = job.operation == Operation::kSave;
  const std::uint64_t per_file = parts > 1 && save ? parts + 2 : parts;
  const std::uint64_t metadata = save ? 1 : job.ranks;
  const std::uint64_t files = Product(std::uint64_t{job.ranks} * job.files_per_rank, per_file);
  return Product(job.rounds, std::max(files, files + metadata));  // the sum may overflow
}

// Rejects fields other than {round}.
Result<void> CheckFields(std::string_view path) {
  constexpr std::string_view kRound = "{round}";
  for (std::size_t at = path.find('{'); at != std::string_view::npos; at = path.find('{', at + 1)) {
    if (path.substr(at).starts_with(kRound)) continue;
    const std::size_t end = path.find('}', at);
    const std::string field(end == std::string_view::npos ? path.substr(at)
                                                          : path.substr(at, end + 1 - at));
    return Error::Make(ErrorKind::kInvalidArgument,
                       "path '" + std::string(path) + "' has '" + field +
                           "', which is not a field; only {round} is supported");
  }
  return Ok();
}

Result<void> CheckJob(const Job& job, const SimulateOptions& limits) {
  PENSTOCK_TRY(CheckRange("ranks", job.ranks, 1, 65'536));
  PENSTOCK_TRY(CheckRange("files_per_rank", job.files_per_rank, 1, 4'096));
  PENSTOCK_TRY(CheckRange("file_bytes", job.file_bytes, 0, 50'000'000'000'000));
  PENSTOCK_TRY(CheckRange("part_bytes", job.part_bytes, 1, 5'368'709'120));
  PENSTOCK_TRY(CheckRange("connections_per_rank", job.connections_per_rank, 1, 1'024));
  PENSTOCK_TRY(CheckRange("rounds", job.rounds, 1, 10'000));
  PENSTOCK_TRY(CheckRange("path's length in bytes", job.path.size(), 0, 512));
  PENSTOCK_TRY(CheckFields(job.path));
  PENSTOCK_TRY(CheckTimes(job));
  PENSTOCK_TRY(CheckNaming(job.naming));
  PENSTOCK_TRY(traffic::CheckLimits(job.limits));
  PENSTOCK_TRY(CheckRange("warm_partitions", job.warm_partitions, 1, job.limits.max_partitions));
  if (job.operation == Operation::kSave && Parts(job) > kMaxParts) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "files of " + std::to_string(job.file_bytes) + " bytes in parts of " +
                           std::to_string(job.part_bytes) + " are " + std::to_string(Parts(job)) +
                           " parts, and the limit of S3 is 10000: increase part_bytes");
  }
  if (RequestsOf(job) > limits.most_requests) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the job has " + std::to_string(RequestsOf(job)) +
                           " requests, and the limit is " + std::to_string(limits.most_requests) +
                           ": use fewer ranks, files or rounds");
  }
  const std::uint64_t connections = std::uint64_t{job.ranks} * job.connections_per_rank;
  if (connections > limits.most_connections) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "the job has " + std::to_string(connections) +
                           " connections (ranks times connections_per_rank), and the limit is " +
                           std::to_string(limits.most_connections) + ": use fewer");
  }
  return Ok();
}

}  // namespace penstock::emulator::simulate
