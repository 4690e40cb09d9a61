// One file, for the functions of files.h.
#ifndef PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TRANSFER_H_
#define PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TRANSFER_H_

#include <memory>
#include <string>

#include "client/transfer/files/file_target.h"
#include "penstock/files.h"

namespace penstock::transfer {

// Returns kInvalidArgument for options out of their range.
Result<void> Check(const FileDownloadOptions& options);

// UploadFile. `open_flags`: O_NOFOLLOW refuses a symbolic link at `path`, or 0.
Result<UploadResponse> UploadFrom(std::shared_ptr<ObjectStore> store, const std::string& path,
                                  int open_flags, BucketName bucket, ObjectKey key,
                                  UploadOptions options, const Interrupt& interrupt);

// DownloadFile to `name` in an open folder. Requires valid options.
Result<FileDownloadResponse> DownloadInto(std::shared_ptr<ObjectStore> store, BucketName bucket,
                                          ObjectKey key, Folder folder, std::string name,
                                          const FileDownloadOptions& options,
                                          const Interrupt& interrupt);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_FILES_FILE_TRANSFER_H_
