// Lister::CreateOrdered: a listing in ascending key order for every kind of bucket.
#include <algorithm>
#include <optional>
#include <utility>

#include "penstock/bucket_kind.h"
#include "penstock/object_list.h"
#include "penstock/transfer.h"

namespace penstock {
namespace {

constexpr std::size_t kPage = 1000;

class OrderedLister final : public Lister {
 public:
  OrderedLister(std::shared_ptr<ObjectStore> store, ListObjectsRequest request)
      : store_(std::move(store)), request_(std::move(request)) {}

  void Start() override {}

  Result<std::optional<ListObjectsResponse>> Next(const Interrupt& interrupt) override {
    if (!all_) {
      PENSTOCK_ASSIGN(all_, ListAll(store_, request_, {}, interrupt));
    }
    if (given_ == all_->size()) return std::optional<ListObjectsResponse>();
    ListObjectsResponse page;
    for (const std::size_t end = std::min(all_->size(), given_ + kPage); given_ < end; ++given_)
      page.objects.push_back((*all_)[given_]);
    return std::optional<ListObjectsResponse>(std::move(page));
  }

 private:
  const std::shared_ptr<ObjectStore> store_;  // shared with the creator
  const ListObjectsRequest request_;
  std::optional<ObjectList> all_;
  std::size_t given_ = 0;
};

}  // namespace

std::unique_ptr<Lister> Lister::CreateOrdered(std::shared_ptr<ObjectStore> store,
                                              ListObjectsRequest first) {
  if (!IsDirectoryBucket(first.bucket.value)) return Create(std::move(store), std::move(first));
  return std::make_unique<OrderedLister>(std::move(store), std::move(first));
}

}  // namespace penstock
