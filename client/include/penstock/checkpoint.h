// Types shared by all formats of checkpoints. Independent of torch.
#ifndef PENSTOCK_CHECKPOINT_H_
#define PENSTOCK_CHECKPOINT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "penstock/base/export.h"

namespace PENSTOCK_EXPORT penstock {

// A value of a checkpoint that is not a tensor: Python's None, bool, int, float, or str and bytes.
using SavedValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// Selects values by name: true loads the value. Names of nested values are joined by ".", and
// elements of lists have their index: "optimizer.state.0.exp_avg". Null: all values.
using NameFilter = std::function<bool(std::string_view name)>;

}  // namespace penstock

#endif  // PENSTOCK_CHECKPOINT_H_
