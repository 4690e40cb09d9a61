// Validates the source of a stream, and computes the checksum state of bytes that were already
// read.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_

#include "client/transfer/download/stream_checksum.h"
#include "penstock/base/result.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Returns kInvalidArgument with the invalid value if the source or the options are invalid.
Result<void> CheckStream(const ObjectStream::Source& source, const StreamOptions& options);

// Returns the checksum state before the first request. Verifies nothing if the bytes that the
// stream does not read are unknown, and for a stream of the whole object, whose first response has
// the checksum.
StreamChecksum InitialChecksum(const ObjectStream::Source& source);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_
