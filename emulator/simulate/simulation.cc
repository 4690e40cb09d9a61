#include "emulator/simulate/simulation.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "emulator/simulate/recorder.h"

namespace penstock::emulator::simulate {
namespace {

using traffic::Traffic;
using traffic::Work;

constexpr std::uint64_t kMaxPastKeys = 200'000;    // Sample size for finding equal shares.
constexpr std::chrono::milliseconds kRefusal{10};  // Latency of a 503 response.
constexpr std::uint64_t kStepsPerCheck = 4096;     // Between two calls of `cancelled`.

enum class Verb : std::uint8_t { kPut, kCreate, kPart, kComplete, kGet, kList };

struct Request {
  Verb verb = Verb::kPut;
  bool metadata = false;
  std::uint32_t file = 0;
  std::uint32_t part = 0;
  std::uint64_t bytes = 0;
};

enum class Step : std::uint8_t { kBegin, kReady, kSend, kRefused, kDone };

struct Event {
  Instant at{};
  // Sequence number, so that the order of simultaneous events is deterministic.
  std::uint64_t order = 0;
  std::uint32_t rank = 0;
  std::uint32_t slot = 0;
  Step step = Step::kBegin;
  bool operator>(const Event& other) const {
    return std::pair(at, order) > std::pair(other.at, other.order);
  }
};

// A connection and its current request.
struct Slot {
  Request request;
  int attempt = 0;  // 0: idle.
  std::uint64_t bytes_per_second = 0;
};

// The state of a rank in its round.
struct Rank {
  explicit Rank(const RetryPolicy& policy) : retry(policy) {}
  RetryState retry;
  std::vector<Slot> slots;
  std::uint32_t file = 0;  // The current file.
  std::uint64_t next_part = 0;
  std::uint64_t parts_done = 0;
  // The request that precedes the parts was sent: CreateMultipartUpload, or the metadata read of a
  // load.
  bool asked = false;
  bool open = false;       // That request has completed.
  bool commits = false;    // save: all ranks are done and this rank commits.
  bool committed = false;  // The commit request was sent.
  bool failed = false;
  bool finished = false;
  std::uint64_t drawn = 0;
};

class Simulation {
 public:
  Simulation(const Job& job, const std::function<bool()>& cancelled)
      : job_(job),
        cancelled_(cancelled),
        draws_(job.seed),
        model_(job.limits),
        prefixes_(Prefixes(job.naming, job.ranks)),
        parts_(job.file_bytes == 0 ? 1 : (job.file_bytes + job.part_bytes - 1) / job.part_bytes) {}

  Result<Report> Run() {
    for (std::uint32_t rank = 0; rank < job_.ranks; ++rank) {
      if (Cancelled(job_.connections_per_rank)) return CancelledError();
      ranks_.push_back(MakeRank(rank));
    }
    PENSTOCK_TRY(Warm());
    for (std::uint32_t round = 0; round < job_.rounds && now_ < job_.deadline; ++round) {
      PENSTOCK_TRY(
          RunRound(std::max(now_, Instant(job_.round_every) * round), FirstRound(job_) + round));
    }
    return recorder_.Finish(now_, model_);
  }

 private:
  // Whether the simulation is to end. `steps`: work since the last call, about 1 us each.
  bool Cancelled(std::uint64_t steps) {
    steps_ += steps;
    if (steps_ < kStepsPerCheck) return false;
    steps_ = 0;
    return cancelled_ && cancelled_();
  }
  static Error CancelledError() {
    return Error::Make(ErrorKind::kCancelled, "the simulation was cancelled");
  }

  Rank MakeRank(std::uint32_t number) {
    Rank rank(job_.client);
    for (std::uint32_t slot = 0; slot < job_.connections_per_rank; ++slot) {
      const traffic::Draw draw = draws_.Of("connection", std::uint64_t{number} << 32 | slot);
      std::uint64_t rate = traffic::ConnectionRate(job_.latency, draw);
      const std::uint64_t share = job_.rank_bytes_per_second / job_.connections_per_rank;
      if (job_.rank_bytes_per_second > 0)
        rate = std::max<std::uint64_t>(1, rate == 0 ? share : std::min(rate, share));
      rank.slots.push_back({.request = {}, .attempt = 0, .bytes_per_second = rate});
    }
    return rank;
  }

  // Sets the path and naming of a round.
  void EnterRound(std::uint32_t round) {
    path_ = job_.path;
    constexpr std::string_view kPlace = "{round}";
    if (const auto at = path_.find(kPlace); at != std::string::npos)
      path_.replace(at, kPlace.size(), std::to_string(round));
    naming_ = job_.naming;
    if (naming_.epoch) *naming_.epoch += round;
  }

  // Splits the bucket into partitions with equal shares of the files of the earlier rounds.
  Result<void> Warm() {
    if (job_.warm_partitions < 2) return Ok();
    const std::uint64_t files = std::uint64_t{job_.ranks} * job_.files_per_rank;
    // Odd, because prefixes distribute ranks by their last digits: an even stride would sample only
    // half of the prefixes.
    const std::uint64_t stride = files * kPastRounds / kMaxPastKeys | 1;
    std::vector<std::string> keys;
    for (std::uint64_t index = 0; index < files * kPastRounds; index += stride) {
      if (Cancelled(1)) return CancelledError();
      const std::uint64_t file = index % files;
      EnterRound(static_cast<std::uint32_t>(index / files));
      keys.push_back(FileKey(naming_, prefixes_, path_,
                             static_cast<std::uint32_t>(file / job_.files_per_rank),
                             static_cast<std::uint32_t>(file % job_.files_per_rank)));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> boundaries;
    for (std::uint64_t part = 1; part < job_.warm_partitions; ++part) {
      boundaries.push_back(keys[keys.size() * part / job_.warm_partitions]);
    }
    model_.Cut(boundaries, Instant{});
    return Ok();
  }

  Result<void> RunRound(Instant begin, std::uint32_t round) {
    EnterRound(round);
    events_ = {};
    unfinished_ = job_.ranks;
    finish_times_.clear();
    result_ = {.began = begin};
    for (std::uint32_t number = 0; number < job_.ranks; ++number) {
      if (Cancelled(1)) return CancelledError();
      Rank& rank = ranks_[number];
      rank = ResetForRound(std::move(rank));
      Push(begin + StartOf(number), number, 0, Step::kBegin);
    }
    while (!events_.empty() && events_.top().at <= job_.deadline) {
      const Event event = events_.top();
      events_.pop();
      now_ = event.at;
      if (Cancelled(1)) return CancelledError();
      Handle(event);
    }
    if (!events_.empty()) now_ = job_.deadline;
    CloseRound();
    return Ok();
  }

  // The time from the start of a round until the rank begins. The product of the spread and the
  // number may overflow.
  Instant StartOf(std::uint32_t number) const {
    const Instant spread(job_.start_spread);
    return spread / job_.ranks * number + spread % job_.ranks * number / job_.ranks;
  }

  // Resets a rank for another round. Its retry state and its connections are kept.
  Rank ResetForRound(Rank old) const {
    Rank rank(job_.client);
    rank.retry = old.retry;
    rank.slots = std::move(old.slots);
    rank.drawn = old.drawn;
    for (Slot& slot : rank.slots) slot.attempt = 0;
    rank.open = OpensAtOnce();
    return rank;
  }

  void CloseRound() {
    result_.ended = now_;
    for (const Rank& rank : ranks_) result_.ranks_failed += rank.finished && !rank.failed ? 0 : 1;
    std::sort(finish_times_.begin(), finish_times_.end());
    if (!finish_times_.empty()) {
      result_.median_rank = finish_times_[finish_times_.size() / 2] - result_.began;
      result_.slowest_rank = finish_times_.back() - result_.began;
    }
    if (job_.operation != Operation::kSave) result_.committed = result_.ranks_failed == 0;
    recorder_.AddRound(result_);
  }

  void Push(Instant at, std::uint32_t rank, std::uint32_t slot, Step step) {
    events_.push({.at = at, .order = order_++, .rank = rank, .slot = slot, .step = step});
  }

  void Handle(const Event& event) {
    switch (event.step) {
      case Step::kBegin: return Pump(event.rank);
      case Step::kReady: return Ready(event.rank, event.slot);
      case Step::kSend: return Send(event.rank, event.slot);
      case Step::kRefused: return Refused(event.rank, event.slot);
      case Step::kDone: return Done(event.rank, event.slot);
    }
  }

  // Assigns the requests that can be sent now to idle connections.
  void Pump(std::uint32_t number) {
    Rank& rank = ranks_[number];
    for (std::uint32_t at = 0; at < rank.slots.size() && !rank.failed; ++at) {
      Slot& slot = rank.slots[at];
      if (slot.attempt != 0) continue;
      const std::optional<Request> request = Next(rank);
      if (!request) break;
      slot.request = *request;
      slot.attempt = 1;
      Ready(number, at);
    }
  }

  // Schedules a ready request. The client's rate limit may delay it.
  void Ready(std::uint32_t number, std::uint32_t at) {
    Push(ranks_[number].retry.Send(now_), number, at, Step::kSend);
  }

  std::optional<Request> Next(Rank& rank) {
    if (rank.commits) return Once(rank.committed, {.verb = Verb::kPut, .metadata = true});
    if (rank.finished) return std::nullopt;
    if (job_.operation == Operation::kList) return Once(rank.asked, {.verb = Verb::kList});
    if (!rank.open) {
      const bool load = job_.operation == Operation::kLoad;
      return Once(rank.asked,
                  {.verb = load ? Verb::kGet : Verb::kCreate, .metadata = load, .file = rank.file});
    }
    if (rank.next_part < parts_) return NextPart(rank);
    return std::nullopt;
  }

  // Whether the parts of a file need no preceding request.
  bool OpensAtOnce() const { return job_.operation == Operation::kSave && parts_ == 1; }

  Request NextPart(Rank& rank) const {
    const std::uint64_t part = rank.next_part++;
    const std::uint64_t bytes = std::min(job_.part_bytes, job_.file_bytes - part * job_.part_bytes);
    const Verb verb = job_.operation == Operation::kLoad ? Verb::kGet
                      : parts_ > 1                       ? Verb::kPart
                                                         : Verb::kPut;
    return {
        .verb = verb, .file = rank.file, .part = static_cast<std::uint32_t>(part), .bytes = bytes};
  }

  static std::optional<Request> Once(bool& flag, Request request) {
    if (std::exchange(flag, true)) return std::nullopt;
    return request;
  }

  std::string KeyOf(std::uint32_t rank, const Request& request) const {
    if (request.verb == Verb::kList) return path_ + "/";
    if (request.metadata) return path_.empty() ? ".metadata" : path_ + "/.metadata";
    return FileKey(naming_, prefixes_, path_, rank, request.file);
  }

  void Send(std::uint32_t number, std::uint32_t at) {
    Rank& rank = ranks_[number];
    Slot& slot = rank.slots[at];
    const bool read = slot.request.verb == Verb::kGet || slot.request.verb == Verb::kList;
    const traffic::Verdict verdict =
        model_.Admit(KeyOf(number, slot.request), read ? Traffic::kRead : Traffic::kWrite, now_);
    recorder_.Sent(now_, verdict, model_.partitions(), slot.attempt > 1);
    if (!verdict.admitted) return Push(now_ + kRefusal, number, at, Step::kRefused);
    Push(now_ + DurationOf(rank, number, slot), number, at, Step::kDone);
  }

  Instant DurationOf(Rank& rank, std::uint32_t number, const Slot& slot) {
    const Work work = slot.request.verb == Verb::kList  ? Work::kList
                      : slot.request.verb == Verb::kGet ? Work::kGet
                                                        : Work::kWrite;
    Instant lasts = traffic::FirstByte(
        job_.latency.Of(work), draws_.Of("request", std::uint64_t{number} << 32 | rank.drawn++));
    if (slot.bytes_per_second > 0) {
      lasts += Instant(static_cast<std::int64_t>(static_cast<double>(slot.request.bytes) * 1e9 /
                                                 static_cast<double>(slot.bytes_per_second)));
    }
    return lasts;
  }

  void Refused(std::uint32_t number, std::uint32_t at) {
    Rank& rank = ranks_[number];
    Slot& slot = rank.slots[at];
    const double random = draws_.Of("back off", std::uint64_t{number} << 32 | rank.drawn++)[0];
    const std::optional<Instant> again =
        rank.failed ? std::nullopt : rank.retry.Refused(now_, slot.attempt, random);
    if (again) {
      ++slot.attempt;
      return Push(*again, number, at, Step::kReady);
    }
    if (!rank.failed) recorder_.GaveUp();
    slot.attempt = 0;
    Fail(number);
  }

  void Done(std::uint32_t number, std::uint32_t at) {
    Rank& rank = ranks_[number];
    Slot& slot = rank.slots[at];
    const Request request = slot.request;
    rank.retry.Succeeded(now_, slot.attempt);
    recorder_.Moved(request.bytes);
    slot.attempt = 0;
    if (rank.failed) return;
    Advance(number, request);
    Pump(number);
  }

  void Advance(std::uint32_t number, const Request& request) {
    Rank& rank = ranks_[number];
    switch (request.verb) {
      case Verb::kList: return Finish(number);
      case Verb::kCreate: rank.open = true; return;
      case Verb::kComplete: return NextFile(number);
      case Verb::kPut:
        if (!request.metadata) return NextFile(number);
        result_.committed = true;
        return;
      case Verb::kGet:
        if (request.metadata) {
          rank.open = true;
        } else if (++rank.parts_done == parts_) {
          NextFile(number);
        }
        return;
      case Verb::kPart:
        if (++rank.parts_done == parts_) Complete(number);
        return;
    }
  }

  void Complete(std::uint32_t number) {
    Rank& rank = ranks_[number];
    Slot& slot = rank.slots.front();  // All connections are idle, because every part has completed.
    slot.request = {.verb = Verb::kComplete, .file = rank.file};
    slot.attempt = 1;
    Ready(number, 0);
  }

  void NextFile(std::uint32_t number) {
    Rank& rank = ranks_[number];
    rank.next_part = rank.parts_done = 0;
    if (job_.operation == Operation::kSave) {
      rank.open = OpensAtOnce();
      rank.asked = false;
    }
    if (++rank.file == job_.files_per_rank) Finish(number);
  }

  void Finish(std::uint32_t number) {
    ranks_[number].finished = true;
    finish_times_.push_back(now_);
    OnRankEnded();
  }

  void Fail(std::uint32_t number) {
    Rank& rank = ranks_[number];
    if (rank.failed || rank.commits) return;
    rank.failed = true;
    OnRankEnded();
  }

  // Rank 0 commits once all ranks are done, if none has failed.
  void OnRankEnded() {
    if (--unfinished_ > 0 || job_.operation != Operation::kSave) return;
    for (const Rank& rank : ranks_) {
      if (rank.failed) return;
    }
    ranks_.front().commits = true;
    Pump(0);
  }

  const Job& job_;
  const std::function<bool()>& cancelled_;
  const traffic::Draws draws_;
  traffic::PartitionModel model_;
  const std::vector<std::string> prefixes_;
  const std::uint64_t parts_;
  std::vector<Rank> ranks_;
  Recorder recorder_;

  Instant now_{};
  std::uint64_t order_ = 0;
  std::uint64_t steps_ = 0;  // Since the last call of `cancelled`.
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  // State of the current round.
  std::string path_;
  Naming naming_;
  Round result_;
  std::uint32_t unfinished_ = 0;
  std::vector<Instant> finish_times_;
};

}  // namespace

Result<Report> Simulate(const Job& job, const SimulateOptions& options) {
  PENSTOCK_TRY(CheckJob(job, options));
  return Simulation(job, options.cancelled).Run();
}

}  // namespace penstock::emulator::simulate
