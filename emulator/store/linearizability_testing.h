// A linearizability checker for tests: Wing and Gong's search, run event by event (Lowe, "Testing
// for linearizability", 2017), so that memory is needed only for the operations in
// progress, whatever the length of the history.
//
// A history is linearizable if each operation can be assigned one instant between its call and its
// return such that the operations, run sequentially in the order of these instants, have the
// observed results. The check is exact: an operation that reads several keys, such as a
// listing, is one step of the model. Histories of objects that no operation combines can be
// checked separately (Herlihy and Wing: linearizability is a local property).
#ifndef PENSTOCK_EMULATOR_STORE_LINEARIZABILITY_TESTING_H_
#define PENSTOCK_EMULATOR_STORE_LINEARIZABILITY_TESTING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace penstock::emulator::store::testing {

// One operation of a process. `called` and `returned` are unique ticks of one clock that all
// processes share.
template <class Operation>
struct Recorded {
  Operation operation;
  std::uint64_t called = 0;
  std::uint64_t returned = 0;
  // False: the operation may or may not have taken effect, at one instant before `returned`.
  bool outcome_known = true;
};

// Requirements on Model:
//   struct State, default constructible, with operator== and a member `std::size_t Hash() const`
//   struct Operation
//   static bool Apply(State&, const Operation&): false if the operation cannot have its results
//       in that state; the state may then be partly changed
//   static std::string Describe(const Operation&)
template <class Model>
class LinearizabilityChecker {
 public:
  using State = typename Model::State;
  using Operation = typename Model::Operation;
  using History = std::vector<Recorded<Operation>>;
  static constexpr std::size_t kMaxInProgress = 64;

  explicit LinearizabilityChecker(State initial = {}) {
    configurations_.insert({std::move(initial), 0});
  }

  // Continues with `history`. Its operations must have been called after all operations of earlier
  // histories returned. nullopt: linearizable. Otherwise a description of the operation that cannot
  // be explained, after which the checker cannot be used.
  std::optional<std::string> Check(const History& history) {
    struct Event {
      std::uint64_t tick;
      const Recorded<Operation>* record;
      bool is_return;
    };
    std::vector<Event> events;
    events.reserve(2 * history.size());
    for (const auto& record : history) {
      events.push_back({record.called, &record, false});
      events.push_back({record.returned, &record, true});
    }
    std::sort(events.begin(), events.end(),
              [](const Event& a, const Event& b) { return a.tick < b.tick; });
    for (const Event& event : events) {
      if (!event.is_return) {
        Call(event.record);
        continue;
      }
      const std::size_t slot = SlotOf(event.record);
      if (!Return(slot)) return Explain(slot);
      in_progress_[slot] = nullptr;
    }
    return std::nullopt;
  }

  // Number of distinct explanations of the history so far.
  std::size_t configurations() const { return configurations_.size(); }

 private:
  // One explanation of the history so far. `state`: the state after the operations that took
  // effect. `done`: those of them that are still in progress.
  struct Configuration {
    State state;
    std::uint64_t done = 0;  // one bit per slot
    bool operator==(const Configuration& other) const {
      return done == other.done && state == other.state;
    }
  };
  struct ConfigurationHash {
    std::size_t operator()(const Configuration& it) const {
      return it.state.Hash() ^ (it.done * 0x9E3779B97F4A7C15ULL);
    }
  };
  using Configurations = std::unordered_set<Configuration, ConfigurationHash>;

  void Call(const Recorded<Operation>* record) {
    const auto free = std::find(in_progress_.begin(), in_progress_.end(), nullptr);
    if (free != in_progress_.end()) {
      *free = record;
    } else {
      in_progress_.push_back(record);  // the test has at most kMaxInProgress processes
    }
  }

  std::size_t SlotOf(const Recorded<Operation>* record) const {
    return static_cast<std::size_t>(std::find(in_progress_.begin(), in_progress_.end(), record) -
                                    in_progress_.begin());
  }

  // Keeps the configurations in which the operation has taken effect, and derives those in which it
  // takes effect last.
  bool Return(std::size_t slot) {
    const std::uint64_t bit = std::uint64_t{1} << slot;
    Configurations next;
    Configurations seen;
    std::vector<Configuration> open;
    for (const Configuration& configuration : configurations_) {
      if ((configuration.done & bit) != 0) {
        next.insert({configuration.state, configuration.done & ~bit});
        continue;
      }
      if (!in_progress_[slot]->outcome_known) next.insert(configuration);  // it never took effect
      open.push_back(configuration);
    }
    while (!open.empty()) {
      const Configuration from = std::move(open.back());
      open.pop_back();
      for (std::size_t other = 0; other < in_progress_.size(); ++other) {
        const std::uint64_t other_bit = std::uint64_t{1} << other;
        if (in_progress_[other] == nullptr || (from.done & other_bit) != 0) continue;
        Configuration to = from;
        if (!Model::Apply(to.state, in_progress_[other]->operation)) continue;
        if (other == slot) {
          next.insert(std::move(to));
          continue;
        }
        to.done |= other_bit;
        if (seen.insert(to).second) open.push_back(std::move(to));
      }
    }
    if (next.empty()) return false;
    configurations_ = std::move(next);
    return true;
  }

  std::string Explain(std::size_t slot) const {
    std::string text = "no instant explains: " + Model::Describe(in_progress_[slot]->operation) +
                       " (ticks " + std::to_string(in_progress_[slot]->called) + " to " +
                       std::to_string(in_progress_[slot]->returned) + ")\nconcurrent operations:";
    for (const auto* record : in_progress_) {
      if (record != nullptr && record != in_progress_[slot])
        text += "\n  " + Model::Describe(record->operation);
    }
    text += "\npossible states before it: " + std::to_string(configurations_.size());
    for (const Configuration& configuration : configurations_)
      text += "\n  " + Model::DescribeState(configuration.state);
    return text;
  }

  Configurations configurations_;
  std::vector<const Recorded<Operation>*> in_progress_;  // null: a free slot
};

}  // namespace penstock::emulator::store::testing

#endif  // PENSTOCK_EMULATOR_STORE_LINEARIZABILITY_TESTING_H_
