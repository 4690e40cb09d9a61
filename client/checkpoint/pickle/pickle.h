// Reads a pickle as data. Names of classes and functions are data too: nothing is imported and no
// code runs. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/base/result.h"

namespace penstock::checkpoint {

enum class PickleKind : std::uint8_t {
  kNone,
  kBool,
  kInt,         // `number`.
  kLargeInt,    // More than 64 bits: `text` has the bytes, little-endian, two's complement.
  kFloat,       // `real`.
  kText,        // `text`, as stored; normally UTF-8.
  kBytes,       // `text`.
  kList,        // Items.
  kTuple,       // Items.
  kSet,         // Items.
  kDict,        // Items: key, value, key, value. Also OrderedDict and defaultdict.
  kGlobal,      // `text` is "module.name".
  kCall,        // Items: what is called, its arguments, the state (None: none), further entries.
  kPersistent,  // Items: the persistent ID.
};

// Index of a value. Two references to one Python object have one index, so a document is a graph
// and may have cycles.
using PickleId = std::uint32_t;

struct PickleValue {
  PickleKind kind = PickleKind::kNone;
  std::uint32_t items = 0;  // Internal: index of the item list.
  union {
    std::int64_t number = 0;
    double real;
  };
  std::string_view text;
};

struct PickleLimits {
  // Bounds the memory, together with the size of the pickle: about 60 bytes for each value.
  std::size_t max_values = std::size_t{1} << 26;
};

// Movable. `text` of values are views into the pickle, which the caller keeps alive.
class PickleDocument {
 public:
  // Accepts any bytes. Reads protocols 2 to 5 as Python and libtorch write them. Returns kDataLoss
  // for invalid or truncated pickles, kUnsupported for other opcodes, kResourceExhausted above the
  // limits. Never recurses.
  static Result<PickleDocument> Read(std::string_view pickle, const PickleLimits& limits = {});

  PickleId root() const { return root_; }
  // Number of values, at least 1.
  std::size_t size() const { return values_.size(); }
  // Requires id < size().
  const PickleValue& at(PickleId id) const { return values_[id]; }
  PickleKind kind(PickleId id) const { return values_[id].kind; }
  // Empty for kinds without items.
  std::span<const PickleId> items(PickleId id) const;

  // The value of a text key of a dict; nullopt if `dict` is not one or lacks the key. The last of
  // equal keys counts, as in Python.
  std::optional<PickleId> Find(PickleId dict, std::string_view key) const;
  // The name of what a call calls, "module.name"; empty if `id` is not a call of a global.
  std::string_view Callee(PickleId id) const;
  // The arguments of a call; empty if `id` is not a call.
  std::span<const PickleId> Arguments(PickleId id) const;
  // The state of an object; nullopt if `id` is not a call with a state.
  std::optional<PickleId> State(PickleId id) const;
  // At most 64 integers, the dimensions that tensors have, of a list, a tuple or a torch.Size;
  // nullopt for anything else.
  std::optional<std::vector<std::int64_t>> Integers(PickleId id) const;
  // For messages: the kind or name of a value, for example "an int" or "a numpy.ndarray".
  std::string Describe(PickleId id) const;

 private:
  friend class PickleMachine;
  PickleId root_ = 0;
  std::vector<PickleValue> values_;
  std::vector<std::vector<PickleId>> items_;
  std::deque<std::string> names_;  // Of globals. A deque keeps views into it valid.
};

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_H_
