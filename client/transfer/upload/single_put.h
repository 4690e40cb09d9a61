// An object in one PutObject, and the limits every upload's options obey.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_

#include "client/transfer/upload/part_body.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// kInvalidArgument naming the option, its value and its limits.
Result<void> CheckUploadOptions(const UploadOptions& options);

// Blocks. What was published is reported as such, even when the answer was lost.
Result<UploadResponse> PutWhole(ObjectStore& store, const BucketName& bucket, const ObjectKey& key,
                                PartBody& body, const UploadOptions& options,
                                const Interrupt& interrupt);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_
