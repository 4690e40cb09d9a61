// Attributes of objects as values: encryption, locks, tags, ACLs, and the headers that S3 stores
// with an object.
#ifndef PENSTOCK_OBJECT_ATTRIBUTES_H_
#define PENSTOCK_OBJECT_ATTRIBUTES_H_

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "penstock/base/bytes.h"
#include "penstock/base/clock.h"
#include "penstock/base/export.h"
#include "penstock/base/result.h"

namespace PENSTOCK_EXPORT penstock {

// A group of members that most requests and responses leave unset. Unset, it costs one pointer.
// Reading an unset group gives T's defaults: `metadata.details->cache_control` is always valid.
template <class T>
class Sparse {
 public:
  Sparse() = default;
  ~Sparse() = default;
  Sparse(const Sparse& other)
      : value_(other.value_ ? std::make_unique<T>(*other.value_) : nullptr) {}
  Sparse(Sparse&&) noexcept = default;
  Sparse& operator=(const Sparse& other) {
    value_ = other.value_ ? std::make_unique<T>(*other.value_) : nullptr;
    return *this;
  }
  Sparse& operator=(Sparse&&) noexcept = default;

  bool has_value() const { return value_ != nullptr; }
  const T& operator*() const { return value_ ? *value_ : Defaults(); }
  const T* operator->() const { return &**this; }
  // Returns the members to change. The first call allocates them.
  T& Edit() {
    if (!value_) value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  // Never freed. Not a local T: if another thread initializes one during a fork, its guard stays
  // locked in the child.
  static const T& Defaults() {
    static constinit std::atomic<const T*> defaults{nullptr};
    const T* known = defaults.load(std::memory_order_acquire);
    if (known == nullptr) {
      auto made = std::make_unique<const T>();
      if (defaults.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel))
        known = made.release();
    }
    return *known;
  }

  std::unique_ptr<T> value_;
};

// One tag of an object or a bucket. S3 allows 10 per object and 50 per bucket, keys of 1 to 128 and
// values of 0 to 256 characters.
struct Tag {
  std::string key;
  std::string value = {};
  friend bool operator==(const Tag&, const Tag&) = default;
};

// A 256-bit key of the caller for server-side encryption (SSE-C). S3 does not store the key: every
// read of the object needs it again. Copies share the key. No function of this library prints it.
//
// A request with such a key is sent over https only, or directly to a loopback address.
class CustomerKey {
 public:
  CustomerKey() = default;  // No key.
  // Returns kInvalidArgument unless `bytes` has exactly 32 bytes.
  static Result<CustomerKey> Create(ByteView bytes);

  bool empty() const { return text_ == nullptr; }
  // Header values: the key and its MD5 as base64. Require !empty().
  const std::string& base64() const { return text_->key; }  // Secret.
  const std::string& md5() const { return text_->md5; }

 private:
  struct Text {
    std::string key;
    std::string md5;
  };
  std::shared_ptr<const Text> text_;  // Shared: copies of requests are frequent.
};

// Names and values that KMS binds to the encrypted data key, sent as JSON. Printable ASCII.
using EncryptionContext = std::vector<std::pair<std::string, std::string>>;

// SSE-S3: keys of Amazon S3 (AES256).
struct SseS3 {};
// SSE-KMS (aws:kms). An empty `key_id` selects the key that AWS manages for S3.
struct SseKms {
  std::string key_id = {};
  EncryptionContext context = {};
  std::optional<bool> bucket_key = {};  // Unset: the bucket's setting.
};
// DSSE-KMS (aws:kms:dsse): two layers of encryption.
struct DsseKms {
  std::string key_id = {};
  EncryptionContext context = {};
};
// The encryption of a new object. std::monostate: the bucket's default.
using Encryption = std::variant<std::monostate, SseS3, SseKms, DsseKms, CustomerKey>;

// Returns the SSE-C key of `encryption`, or an empty one. Parts of an upload need the key again.
inline CustomerKey CustomerKeyOf(const Encryption& encryption) {
  const auto* key = std::get_if<CustomerKey>(&encryption);
  return key == nullptr ? CustomerKey() : *key;
}

// The encryption that a response reports.
enum class EncryptionKind { kNone, kS3, kKms, kDsse, kCustomerKey, kOther };

enum class LockMode { kNone, kGovernance, kCompliance };
// Retention and legal hold of an object version (S3 Object Lock).
struct ObjectLock {
  LockMode mode = LockMode::kNone;
  WallTime retain_until{};  // With `mode`.
  std::optional<bool> legal_hold = {};

  // Returns whether the object gets a retention or a legal hold. S3 then requires a checksum of the
  // object and of its parts.
  bool IsSet() const { return mode != LockMode::kNone || legal_hold.has_value(); }
};

enum class GrantPermission { kFullControl, kRead, kReadAcp, kWrite, kWriteAcp };
// One x-amz-grant-* entry. `grantee` is `id="..."`, `uri="..."` or `emailAddress="..."`.
struct Grant {
  GrantPermission permission = GrantPermission::kRead;
  std::string grantee = {};
};

// Attributes of a new object, for PutObject, CreateMultipartUpload and CopyObject. Texts must be
// printable ASCII. Empty and unset members are not sent.
struct ObjectAttributes {
  std::string content_type = {};   // Empty: S3's default, binary/octet-stream.
  std::string storage_class = {};  // Empty: STANDARD.
  std::vector<std::pair<std::string, std::string>> user_metadata = {};
  std::string cache_control = {};
  std::string content_encoding = {};
  std::string content_disposition = {};
  std::string content_language = {};
  std::optional<WallTime> expires = {};  // The Expires header, to the second.
  std::string website_redirect = {};
  std::vector<Tag> tags = {};
  // A canned ACL, for example "bucket-owner-full-control". Not with `grants`.
  std::string acl = {};
  std::vector<Grant> grants = {};
  Encryption encryption = {};
  ObjectLock lock = {};
};

// Attributes of an object that most responses do not contain.
struct ObjectDetails {
  std::string cache_control;
  std::string content_encoding;
  std::string content_disposition;
  std::string content_language;
  std::string expires;  // As sent; clients may have stored any text.
  std::string website_redirect;
  std::string kms_key_id;        // Of SSE-KMS and DSSE-KMS.
  bool bucket_key = false;       // SSE-KMS uses a key of the bucket.
  std::string customer_key_md5;  // Of SSE-C.
  ObjectLock lock;
  std::string expiration;               // x-amz-expiration, unparsed.
  std::string replication_status;       // "COMPLETED", "PENDING", "FAILED" or "REPLICA".
  std::string archive_status;           // "ARCHIVE_ACCESS" or "DEEP_ARCHIVE_ACCESS".
  std::optional<int> tag_count;         // Unset: no tags, or no permission to read them.
  std::optional<int> missing_metadata;  // Number of user metadata that HTTP headers cannot carry.
};

}  // namespace penstock

#endif  // PENSTOCK_OBJECT_ATTRIBUTES_H_
