// The map dataset: objects under a prefix by index.
#include <algorithm>
#include <deque>
#include <utility>

#include "client/torch/object_tensor.h"
#include "client/torch/s3_uri.h"
#include "penstock/torch.h"

namespace penstock::torch {

Result<ObjectDataset> ObjectDataset::Create(std::shared_ptr<ObjectStore> store,
                                            std::string_view uri, DatasetOptions options,
                                            const Interrupt& interrupt) {
  PENSTOCK_ASSIGN(S3Uri place, ParseS3Uri(uri));
  ListObjectsRequest request;
  request.bucket = place.bucket;
  request.prefix = place.path;
  request.options = options.download.call;
  const std::unique_ptr<Lister> lister = Lister::CreateOrdered(store, std::move(request));
  auto objects = std::make_shared<std::vector<ObjectSummary>>();
  for (;;) {
    PENSTOCK_ASSIGN(std::optional<ListObjectsResponse> page, lister->Next(interrupt));
    if (!page) break;
    std::move(page->objects.begin(), page->objects.end(), std::back_inserter(*objects));
  }
  ObjectDataset dataset;
  dataset.store_ = std::move(store);
  dataset.bucket_ = std::move(place.bucket);
  dataset.objects_ = std::move(objects);
  dataset.options_ = std::move(options);
  return dataset;
}

ObjectExample ObjectDataset::get(std::size_t index) {
  ObjectTensor object(store_, bucket_, objects_->at(index).key, options_.download);
  Result<ObjectExample> example = object.Take();
  if (!example.ok()) throw DatasetError(std::move(example).error());
  return std::move(example).value();
}

std::vector<ObjectExample> ObjectDataset::get_batch(c10::ArrayRef<std::size_t> indices) {
  std::vector<ObjectExample> batch;
  batch.reserve(indices.size());
  std::deque<ObjectTensor> in_flight;
  const auto most = static_cast<std::size_t>(std::max(1, options_.max_parallel_objects));
  std::size_t next = 0;
  while (batch.size() < indices.size()) {
    while (next < indices.size() && in_flight.size() < most) {
      in_flight.emplace_back(store_, bucket_, objects_->at(indices[next++]).key, options_.download);
    }
    Result<ObjectExample> example = in_flight.front().Take();
    if (!example.ok()) throw DatasetError(std::move(example).error());
    in_flight.pop_front();
    batch.push_back(std::move(example).value());
  }
  return batch;
}

std::optional<std::size_t> ObjectDataset::size() const { return objects_->size(); }

}  // namespace penstock::torch
