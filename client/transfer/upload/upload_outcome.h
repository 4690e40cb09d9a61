// Determines whether an object was published although the last request of its upload failed.
//
// A lost response says nothing about its effect. These functions read the object, so that a
// published upload is never reported as failed, and a failed upload never as published.
#ifndef PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_OUTCOME_H_
#define PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_OUTCOME_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/object_store.h"

namespace penstock::transfer {

// Returns true if the request may have taken effect despite this error: no response arrived, or the
// response of an earlier attempt may have been lost.
bool OutcomeUnknown(const Error& error);

// Returns hex(MD5(concatenated MD5s of the parts))-N, the ETag of a multipart object (recorded
// against Amazon S3). Nullopt if the ETag of a part is not an MD5, for example with SSE-KMS.
std::optional<ETag> MultipartETag(const std::vector<CompletedPart>& parts);

// Returns the hex MD5 of the content: the ETag of a single PUT, unless it is encrypted with SSE-KMS
// or SSE-C.
ETag ContentETag(ByteView content);
// Same for all of `content`, which is rewound.
ETag ContentETag(BodySource& content);

// Properties that identify an uploaded object.
struct Fingerprint {
  std::uint64_t size_bytes = 0;
  std::optional<ETag> etag;                // unset: unknown until S3 returns it
  std::optional<std::uint64_t> crc64nvme;  // of the whole object; unset: unknown
};

// Returns the ETag of the object if it has that size, and that ETag or checksum. `customer_key`: of
// an object with SSE-C. Blocks, within the limits of `cleanup`.
std::optional<ETag> FindPublished(ObjectStore& store, const BucketName& bucket,
                                  const ObjectKey& key, const Fingerprint& sent,
                                  CustomerKey customer_key, CallOptions cleanup);

// Time limits of cleanup requests, and how long the caller waits for them after an interrupt.
inline constexpr std::chrono::seconds kCleanupLimit{30};
inline constexpr std::chrono::seconds kInterruptedCleanupLimit{5};
inline constexpr std::chrono::milliseconds kInterruptedWait{75};

// Returns `of_caller` with the matching time limit from now, but without its deadline and
// cancellation, which may be the reason for the cleanup, and without on_response, which must not
// run after the caller's call has returned.
CallOptions CleanupOptions(const CallOptions& of_caller, bool interrupted);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_UPLOAD_UPLOAD_OUTCOME_H_
