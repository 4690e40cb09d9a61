// Tags: the rules of a tag set, its header form and its document form (spec/protocol.md §2.5,
// §2.17).
#ifndef PENSTOCK_EMULATOR_S3_OBJECTS_TAGS_H_
#define PENSTOCK_EMULATOR_S3_OBJECTS_TAGS_H_

#include <string>
#include <string_view>

#include "emulator/store/store.h"
#include "penstock/base/result.h"

namespace penstock::emulator::s3 {

// x-amz-tagging: "a=1&b=2", URL-encoded.
Result<store::Attributes> ParseTagHeader(std::string_view value);
// A <Tagging> document.
Result<store::Attributes> ParseTagDocument(std::string_view text);
std::string TagDocument(const store::Attributes& tags);

// A bucket's tags: as an object's, but fifty of them.
Result<void> CheckBucketTags(const store::Attributes& tags);

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_OBJECTS_TAGS_H_
