// After an upload's last request failed: was the object published, or not?
//
// A lost answer says nothing about what happened on the other side. These look, so that a published
// upload is never reported as failed and none that failed as published.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_SETTLE_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_SETTLE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/object_store.h"

namespace penstock::transfer {

// True when the request may have taken effect although this error came back: no answer arrived, or
// an earlier attempt's may have been lost.
bool OutcomeUnknown(const Error& error);

// hex(MD5(the parts' raw MD5s))-N (spec/protocol.md §2.5). nullopt when a part's ETag is not an
// MD5, as with SSE-KMS.
std::optional<ETag> MultipartETag(const std::vector<CompletedPart>& parts);

// Hex MD5 of the content: the ETag of a single PUT, unless encrypted with a customer's key.
ETag ContentETag(ByteView content);
// The same of all of `content`, which is rewound.
ETag ContentETag(BodySource& content);

// What an object of ours is known by.
struct Fingerprint {
  std::uint64_t size_bytes = 0;
  std::optional<ETag> etag;                // unset: not known before S3 says it
  std::optional<std::uint64_t> crc64nvme;  // of the whole; unset: not known
};

// The object's ETag if it now has that size, and that ETag or checksum. Blocks, within `cleanup`.
std::optional<ETag> FindPublished(ObjectStore& store, const BucketName& bucket,
                                  const ObjectKey& key, const Fingerprint& ours,
                                  CallOptions cleanup);

// What cleaning up and settling may take, and how long someone who interrupted an upload waits for
// it.
inline constexpr std::chrono::seconds kCleanupLimit{30};
inline constexpr std::chrono::seconds kInterruptedCleanupLimit{5};
inline constexpr std::chrono::milliseconds kInterruptedPatience{75};

// One such limit from now on, with neither the caller's deadline nor its cancellation: those may be
// why there is something to clean up.
CallOptions CleanupOptions(bool interrupted);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_SETTLE_H_
