// Tag sets: their rules, the header form and the document form.
#ifndef PENSTOCK_EMULATOR_S3_PROTOCOL_TAGS_H_
#define PENSTOCK_EMULATOR_S3_PROTOCOL_TAGS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/s3/protocol/document_schema.h"
#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

inline constexpr std::size_t kMaxTagKeyCharacters = 128;
inline constexpr std::size_t kMaxTagValueCharacters = 256;
std::size_t CountCharacters(std::string_view utf8);

// Returns the value of the tag with this key; otherwise of one whose key differs in case, because
// condition keys ignore case.
std::optional<std::string_view> FindTag(const store::Attributes& tags, std::string_view key);

// Parses x-amz-tagging: "a=1&b=2", URL-encoded.
Result<store::Attributes> ParseTagHeader(std::string_view value);
// Parses a <Tagging> document.
Result<store::Attributes> ParseTagDocument(std::string_view text);
std::string TagDocument(const store::Attributes& tags);

// Returns the tags of a <TagSet>; none if it is null.
store::Attributes TagsOf(const Element* tag_set);

enum class BucketTagging : std::uint8_t { kPut, kCreateBucket };
// Checks the tags of a bucket: the rules of object tags, but up to 50 tags.
Result<void> CheckBucketTags(const store::Attributes& tags, BucketTagging request);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_PROTOCOL_TAGS_H_
