// Uploads an object with one PutObject, and validates the options of all uploads.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_

#include "client/transfer/upload/part_body.h"
#include "penstock/transfer.h"

namespace penstock::transfer {

// Returns kInvalidArgument with the option, its value and its limits.
Result<void> CheckUploadOptions(const UploadOptions& options);

// Blocks. A published object is reported as a success even if the response was lost.
Result<UploadResponse> PutWhole(ObjectStore& store, const BucketName& bucket, const ObjectKey& key,
                                PartBody& body, const UploadOptions& options,
                                const Interrupt& interrupt);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_SINGLE_PUT_H_
