// What a stream is asked to read: whether that can be, and what it is held to.
#ifndef PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_
#define PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_

#include "client/transfer/download/stream_checksum.h"
#include "penstock/base/result.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// kInvalidArgument, naming what is wrong.
Result<void> CheckStream(const ObjectStream::Source& source, const StreamOptions& options);

// Of an object whose bytes are in `source.ranges` and read elsewhere; verifies nothing where they
// are not all of it.
StreamChecksum ChecksumOfRanges(const ObjectStream::Source& source);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_DOWNLOAD_STREAM_SOURCE_H_
