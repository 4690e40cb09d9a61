// The tensor that a value of a pickle describes.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLED_TENSOR_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLED_TENSOR_H_

#include "client/checkpoint/pickle/pickle.h"
#include "penstock/tensor_archive.h"

namespace penstock::checkpoint {

// Whether `id` is a call that rebuilds a tensor or a parameter.
bool IsPickledTensor(const PickleDocument& document, PickleId id);

// Reads a plain strided tensor, or the parameter around one. Ignores attributes that Python code
// has set. Requires IsPickledTensor. Returns
// kUnsupported, with the name of the function that would rebuild it, for tensors of other kinds and
// with other attributes, and kDataLoss for invalid arguments.
Result<PickledTensor> ReadPickledTensor(const PickleDocument& document, PickleId id);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLED_TENSOR_H_
