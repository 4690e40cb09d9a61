// A store that forwards every call to another store. Subclasses override what they change.
#ifndef PENSTOCK_EMULATOR_S3_CORE_PASSING_STORE_H_
#define PENSTOCK_EMULATOR_S3_CORE_PASSING_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/s3/core/exchange.h"
#include "emulator/store/store.h"

namespace penstock::emulator::s3 {

// Thread safety: that of the wrapped store.
class PassingStore : public store::Store {
 public:
  // Shared, because a request keeps the store that it began with (Namespace).
  explicit PassingStore(std::shared_ptr<store::Store> inner) : inner_(std::move(inner)) {}

  Result<void> CreateBucket(store::BucketRecord bucket, std::size_t max_per_owner) override {
    return inner_->CreateBucket(std::move(bucket), max_per_owner);
  }
  Result<store::BucketPtr> FindBucket(const BucketName& name) override {
    return inner_->FindBucket(name);
  }
  Result<void> DeleteBucket(const BucketName& name) override { return inner_->DeleteBucket(name); }
  Result<void> DeleteBucket(const BucketName& name, store::OpenUploads open_uploads) override {
    return inner_->DeleteBucket(name, open_uploads);
  }
  Result<std::vector<store::BucketPtr>> ListBuckets() override { return inner_->ListBuckets(); }
  Result<void> SetVersioning(const BucketName& name, store::Versioning versioning) override {
    return inner_->SetVersioning(name, versioning);
  }
  Result<void> SetConfiguration(const BucketName& name, const std::string& sub_resource,
                                std::optional<std::string> document,
                                std::vector<store::Event> events) override {
    return inner_->SetConfiguration(name, sub_resource, std::move(document), std::move(events));
  }

  Result<store::ObjectPtr> FindObject(const BucketName& bucket, const ObjectKey& key,
                                      const std::optional<VersionId>& version) override {
    return inner_->FindObject(bucket, key, version);
  }
  Result<store::PutOutcome> Put(store::PutObject request) override {
    return inner_->Put(std::move(request));
  }
  void Put(store::PutObject request, store::Async<store::PutOutcome> later) override {
    inner_->Put(std::move(request), std::move(later));
  }
  Result<store::DeleteOutcome> Delete(store::DeleteObject request) override {
    return inner_->Delete(std::move(request));
  }
  void Delete(store::DeleteObject request, store::Async<store::DeleteOutcome> later) override {
    inner_->Delete(std::move(request), std::move(later));
  }
  std::vector<Result<store::DeleteOutcome>> Delete(
      std::vector<store::DeleteObject> requests) override {
    return inner_->Delete(std::move(requests));
  }
  Result<void> Rename(store::RenameObject request) override {
    return inner_->Rename(std::move(request));
  }
  Result<void> SetTags(const BucketName& bucket, const ObjectKey& key,
                       const std::optional<VersionId>& version, store::Attributes tags,
                       const store::EventMaker& events) override {
    return inner_->SetTags(bucket, key, version, std::move(tags), events);
  }
  Result<void> ChangeAttributes(const BucketName& bucket, const ObjectKey& key,
                                const std::optional<VersionId>& version,
                                const store::AttributeChange& change,
                                const store::EventMaker& events) override {
    return inner_->ChangeAttributes(bucket, key, version, change, events);
  }
  std::vector<Result<void>> ChangeStorageClass(
      std::vector<store::StorageClassChange> changes) override {
    return inner_->ChangeStorageClass(std::move(changes));
  }
  Result<store::ListPage> List(const store::ListObjects& query) override {
    return inner_->List(query);
  }
  Result<store::VersionPage> List(const store::ListVersions& query) override {
    return inner_->List(query);
  }
  Result<store::ListPage> List(const store::ListDirectory& query) override {
    return inner_->List(query);
  }

  Result<store::UploadPtr> CreateUpload(store::UploadRecord upload) override {
    return inner_->CreateUpload(std::move(upload));
  }
  Result<store::UploadPtr> FindUpload(const BucketName& bucket, const ObjectKey& key,
                                      const UploadId& id) override {
    return inner_->FindUpload(bucket, key, id);
  }
  Result<void> Put(store::PutPart request) override { return inner_->Put(std::move(request)); }
  void Put(store::PutPart request, store::Async<void> later) override {
    inner_->Put(std::move(request), std::move(later));
  }
  Result<std::vector<store::StoredPart>> ListParts(const BucketName& bucket, const ObjectKey& key,
                                                   const UploadId& id, int marker,
                                                   int limit) override {
    return inner_->ListParts(bucket, key, id, marker, limit);
  }
  Result<store::PutOutcome> Complete(store::CompleteUpload request) override {
    return inner_->Complete(std::move(request));
  }
  Result<store::ObjectPtr> FindCompleted(const BucketName& bucket, const ObjectKey& key,
                                         const UploadId& id) override {
    return inner_->FindCompleted(bucket, key, id);
  }
  Result<void> AbortUpload(const BucketName& bucket, const ObjectKey& key,
                           const UploadId& id) override {
    return inner_->AbortUpload(bucket, key, id);
  }
  Result<store::UploadPage> List(const store::ListUploads& query) override {
    return inner_->List(query);
  }

  Result<std::vector<store::StoredEvent>> ListEvents(std::uint64_t after, int limit) override {
    return inner_->ListEvents(after, limit);
  }
  Result<std::vector<store::StoredEvent>> ListUndelivered(std::uint64_t after, int limit) override {
    return inner_->ListUndelivered(after, limit);
  }
  Result<void> MarkDelivered(const std::vector<std::uint64_t>& numbers) override {
    return inner_->MarkDelivered(numbers);
  }
  Result<void> RemoveEvents(std::uint64_t last) override { return inner_->RemoveEvents(last); }

  Result<std::unique_ptr<store::BlobWriter>> NewBlob(std::uint64_t size_hint) override {
    return inner_->NewBlob(size_hint);
  }

 protected:
  store::Store& inner() { return *inner_; }

 private:
  const std::shared_ptr<store::Store> inner_;
};

// Makes the request use `Wrapped(its store, arguments...)` until its response has been sent.
template <class Wrapped, class... Arguments>
void WrapStore(Exchange& exchange, Arguments&&... arguments) {
  auto space = std::make_shared<Namespace>(*exchange.space);
  // Aliasing shared_ptr: it keeps the namespace that owns the store alive as long as the request.
  const std::shared_ptr<store::Store> store(exchange.space, exchange.space->store.get());
  space->store = std::make_shared<Wrapped>(store, std::forward<Arguments>(arguments)...);
  exchange.space = std::move(space);
}

}  // namespace penstock::emulator::s3

#endif  // PENSTOCK_EMULATOR_S3_CORE_PASSING_STORE_H_
