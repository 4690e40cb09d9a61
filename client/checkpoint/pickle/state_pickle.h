// The pickle of a state dict: tensors, and the plain values beside them, by name. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_STATE_PICKLE_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_STATE_PICKLE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "penstock/base/result.h"
#include "penstock/checkpoint.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {

struct SavedTensor {
  std::string name;
  PickledTensor tensor;

  bool operator==(const SavedTensor&) const = default;
};

struct SavedState {
  std::vector<SavedTensor> tensors;
  std::vector<std::pair<std::string, SavedValue>> values;

  bool operator==(const SavedState&) const = default;
};

// Reads dicts, lists, tuples and sets of any depth up to 100, plain tensors and parameters without
// Python attributes, None, bool, int of 64 bits, float, str, bytes, torch.Size, and dtypes, layouts
// and devices as their names. Runs no code. Accepts any bytes.
//
// Values that `filter` rejects are ignored, whatever they are. Any other value is kUnsupported; the
// message names it and its class. Two values of one name are kUnsupported too. A root that is not a
// container has the name `prefix`; all other names begin with "prefix." if it is not empty.
Result<SavedState> ReadStatePickle(std::string_view pickle, const NameFilter& filter = {},
                                   std::string_view prefix = {});

// Writes a dict that ReadStatePickle and torch.load(weights_only=True) read. Tensors with equal
// storage keys share one storage. Returns kInvalidArgument for a name or text that is not UTF-8, a
// name that occurs twice, or an unknown dtype.
Result<std::string> WriteStatePickle(const SavedState& state);

// Writes the pickle of one tensor, as the items of a distributed checkpoint have it.
Result<std::string> WriteTensorPickle(const PickledTensor& tensor);
// Writes the pickle of one plain value.
Result<std::string> WriteValuePickle(const SavedValue& value);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_STATE_PICKLE_H_
