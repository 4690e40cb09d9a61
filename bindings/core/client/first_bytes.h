// Downloads the first bytes of an object together with the object's checksums.
#ifndef PENSTOCK_BINDINGS_CORE_CLIENT_FIRST_BYTES_H_
#define PENSTOCK_BINDINGS_CORE_CLIENT_FIRST_BYTES_H_

#include <memory>

#include "penstock/client.h"
#include "penstock/transfer.h"

namespace penstock::python {

// When to request the checksums of an object that is larger than the bytes to download. The
// response to a range does not have them.
enum class ChecksumRequest {
  kNever,
  kAfterwards,  // if the download shows that the object is larger
  kConcurrent,  // at the same time as the download; the object is known to be larger
};

// Like StartDownload. If the bytes are not the whole object, the checksums in the response are
// those of a HEAD request for the same version, or none.
void StartFirstBytes(const std::shared_ptr<Client>& client, DownloadRequest request,
                     ChecksumRequest checksums, Callback<DownloadResponse> done);

}  // namespace penstock::python

#endif  // PENSTOCK_BINDINGS_CORE_CLIENT_FIRST_BYTES_H_
