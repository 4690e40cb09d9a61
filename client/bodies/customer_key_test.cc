#include <gtest/gtest.h>

#include <array>

#include "penstock/object_attributes.h"

namespace penstock {
namespace {

TEST(CustomerKeyTest, Has32BytesAndAnMd5) {
  const auto refused = CustomerKey::Create(AsBytes("short"));
  EXPECT_EQ(refused.error().message, "an SSE-C key has 32 bytes (AES-256), not 5");
  std::array<std::byte, 32> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i);
  const CustomerKey key = CustomerKey::Create(bytes).value();
  EXPECT_FALSE(key.empty());
  EXPECT_EQ(key.base64(), "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
  EXPECT_EQ(key.md5(), "tP/LI3N87DFaSk0aoqYgzg==");
  EXPECT_TRUE(CustomerKeyOf(SseS3{}).empty());
  EXPECT_EQ(CustomerKeyOf(key).base64(), key.base64());
}

}  // namespace
}  // namespace penstock
