// A listing kept in little memory, and the whole of one at once.
#ifndef PENSTOCK_OBJECT_LIST_H_
#define PENSTOCK_OBJECT_LIST_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/object_store.h"

namespace penstock {

// Objects in the order they were appended, each packed into at most about 24 bytes besides its key;
// of the key only what differs from the one before. Times keep milliseconds, which is what S3
// lists. Any object is found by its index in well under a microsecond.
//
// Thread safety: const methods from any thread while nobody appends.
class ObjectList {
 public:
  ObjectList();
  ObjectList(ObjectList&&) noexcept;
  ObjectList& operator=(ObjectList&&) noexcept;
  ~ObjectList();

  void Append(const ObjectSummary& object);
  std::size_t size() const { return size_; }
  // `index` is below size().
  ObjectSummary operator[](std::size_t index) const;
  // What it holds on to, in bytes.
  std::uint64_t memory_bytes() const;

  // All of it as bytes, for another process; and back. kDataLoss when they are not Save's.
  std::string Save() const;
  static Result<ObjectList> Load(std::string_view saved);

 private:
  struct Entry;
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    std::size_t used = 0;
    std::size_t capacity = 0;
  };
  // objects packed one after the other; each begins with a whole key
  static constexpr std::size_t kBlock = 32;

  std::size_t ClassIndex(const std::string& name);
  void Seal();
  std::string_view Block(std::size_t number) const;
  bool Unpack(std::string_view& packed, Entry& entry, std::string* etag) const;

  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> blocks_;  // where each sealed one is: chunk << 32 | offset
  std::string tail_;                   // the block that is not full
  std::string last_key_;
  std::int64_t last_time_ = 0;
  std::vector<std::string> classes_;
  std::size_t size_ = 0;
};

struct ListAllOptions {
  // Empty: page by page. Otherwise what stands below each first-level common prefix is listed at
  // the same time as the rest. The same objects in the same order, at one more request per common
  // prefix: for buckets of few and large ones.
  std::string delimiter;
  int parallel = 16;  // listings at a time
};

// Every object below `request.prefix`, keys ascending: S3's order, which of a directory bucket is
// made here. Of `request` bucket, prefix, page size and call options count.
Result<ObjectList> ListAll(std::shared_ptr<ObjectStore> store, const ListObjectsRequest& request,
                           const ListAllOptions& options = {}, const Interrupt& interrupt = {});

}  // namespace penstock

#endif  // PENSTOCK_OBJECT_LIST_H_
