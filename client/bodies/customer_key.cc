#include <memory>
#include <string>

#include "base/digest.h"
#include "base/encoding.h"
#include "penstock/object_attributes.h"

namespace penstock {

Result<CustomerKey> CustomerKey::Create(ByteView bytes) {
  constexpr std::size_t kBytes = 32;
  if (bytes.size() != kBytes) {
    return Error::Make(ErrorKind::kInvalidArgument,
                       "an SSE-C key has 32 bytes (AES-256), not " + std::to_string(bytes.size()));
  }
  CustomerKey key;
  key.text_ = std::make_shared<const Text>(Text{Base64Encode(bytes), Base64Encode(Md5(bytes))});
  return key;
}

}  // namespace penstock
