#include "emulator/store/tables/blob_references.h"

#include <gtest/gtest.h>

#include "emulator/store/blobs/blob_memory.h"
#include "emulator/store/store_testing.h"
#include "emulator/store/tables/schema.h"

namespace penstock::emulator::store {
namespace {

using namespace testing;  // NOLINT: test helpers

class BlobReferencesTest : public ::testing::Test {
 protected:
  StoredBlobPtr NewBlob(std::string_view text) {
    HeapBuffer buffer(text.size());
    buffer.Fill(AsBytes(text));
    auto blob = std::make_shared<HeapBlob>(registry_, registry_->NextId(), std::move(buffer));
    registry_->AddPending(blob);
    return blob;
  }
  std::string Add(const Content& content) {
    std::string packed;
    const auto added = queue_.Run([&](WriteTransaction& transaction) -> Result<void> {
      PENSTOCK_ASSIGN(packed, AddReferences(transaction, registry_, content));
      return Ok();
    });
    EXPECT_TRUE(added.ok());
    return packed;
  }
  void Release(const std::string& packed) {
    const auto released = queue_.Run([&](WriteTransaction& transaction) {
      return ReleaseReferences(transaction, registry_, packed);
    });
    EXPECT_TRUE(released.ok());
  }
  std::int64_t Rows() {
    const auto lease = pool_.Take();
    Query query(**lease, "SELECT count(*) FROM blobs");
    EXPECT_TRUE(*query.Step());
    return query.Int(0);
  }
  Result<std::optional<Content>> Load(const std::string& packed) {
    const auto lease = pool_.Take();
    return LoadContent(**lease, registry_, packed);
  }

  // A directory that is never used, because all blobs here are inline.
  std::shared_ptr<BlobRegistry> registry_ = std::make_shared<BlobRegistry>("unused", 1);
  ConnectionPool pool_{OpenDatabase(":memory:", Durability::kRelaxed).value()};
  WriteQueue queue_{pool_};
};

TEST_F(BlobReferencesTest, ABlobIsDeletedWithItsLastReference) {
  const StoredBlobPtr blob = NewBlob("text");
  const std::string one = Add({{{blob, {0, 4}}}});
  const std::string two = Add({{{blob, {0, 2}}, {blob, {2, 4}}}});
  Release(one);
  EXPECT_EQ(Rows(), 1);
  Release(two);
  EXPECT_EQ(Rows(), 0);
}

TEST_F(BlobReferencesTest, LoadsInlineBytesOfUnusedBlobs) {
  const std::string packed = Add({{{NewBlob("some text"), {5, 9}}}});
  const auto loaded = Load(packed);
  ASSERT_TRUE(loaded.ok() && loaded->has_value());
  EXPECT_EQ(Text(**loaded), "text");
}

TEST_F(BlobReferencesTest, MissingBytesAreDataLoss) {
  const std::string packed = Add({{{NewBlob("text"), {0, 4}}}});
  Release(packed);
  const auto loaded = Load(packed);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().kind, ErrorKind::kDataLoss);
}

}  // namespace
}  // namespace penstock::emulator::store
