// Checks of a pickle before another unpickler reads it. No I/O.
#ifndef PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_SCAN_H_
#define PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_SCAN_H_

#include <string_view>

#include "penstock/base/result.h"

namespace penstock::checkpoint {

// Checks that the lengths and memo indices of a pickle of any protocol are within its size:
// Python's unpickler allocates a memo with as many entries as the largest index, and bytes as long
// as announced. Python's unpickler checks everything else. Returns kDataLoss; the message continues
// a sentence that begins with the name of the pickle.
Result<void> ScanPickle(std::string_view pickle);

}  // namespace penstock::checkpoint

#endif  // PENSTOCK_CLIENT_CHECKPOINT_PICKLE_PICKLE_SCAN_H_
