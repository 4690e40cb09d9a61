// After an upload's last request failed: was the object published, or not?
//
// A lost answer says nothing about what happened on the other side. These look, so that a published upload is never
// reported as failed and none that failed as published.
#ifndef PENSTOCK_CLIENT_TRANSFER_SETTLE_H_
#define PENSTOCK_CLIENT_TRANSFER_SETTLE_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "penstock/object_store.h"

namespace penstock::transfer {

// True when the request may have taken effect although this error came back: no answer arrived, or an earlier attempt's
// may have been lost.
bool OutcomeUnknown(const Error& error);

// hex(MD5(the parts' raw MD5s))-N (spec/protocol.md §2.5). nullopt when a part's ETag is not an MD5, as with SSE-KMS.
std::optional<ETag> MultipartETag(const std::vector<CompletedPart>& parts);

// Hex MD5 of the content: the ETag of a single PUT, unless encrypted with a customer's key.
ETag ContentETag(ByteView content);

// True when the object now has exactly this ETag and size. Blocks, within `cleanup`.
bool IsPublished(ObjectStore& store, const BucketName& bucket, const ObjectKey& key, const ETag& etag,
                 std::uint64_t size_bytes, CallOptions cleanup);

// What cleaning up and settling may take. Someone who interrupted an upload waits for its end.
inline constexpr std::chrono::seconds kCleanupLimit{30};
inline constexpr std::chrono::seconds kInterruptedCleanupLimit{5};

// One such limit from now on, with neither the caller's deadline nor its cancellation: those may be why there is
// something to clean up.
CallOptions CleanupOptions(bool interrupted);

}  // namespace penstock::transfer

#endif  // PENSTOCK_CLIENT_TRANSFER_SETTLE_H_
