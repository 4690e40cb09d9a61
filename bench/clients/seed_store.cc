// Fills a store's folder with objects, without a server, and prints the cost as one JSON line.
//
//   bench_seed_store DIRECTORY BUCKET OBJECTS FOLDERS BODY_BYTES THREADS [strict]
//
// DIRECTORY is an argument of `penstock-emulator --data`. Keys are folder-0000/object-0000000 and
// so on in key order, with the same number in each folder. The owner is the emulator's default
// account, so that its access key may read the objects.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/clients/cost.h"
#include "emulator/store/store.h"

namespace {

namespace store = penstock::emulator::store;
using penstock::bench::CpuSeconds;
using penstock::bench::Fail;

// The canonical id of the emulator's default account: SHA-256 of "penstock owner of penstock".
constexpr const char* kOwner = "1d2008eb2720cdafa791bd687ed3d79ab981cce385546d93d18ba405525e68a6";

struct Plan {
  penstock::BucketName bucket;
  int objects = 0;
  int folders = 1;
  std::string body;
};

std::string KeyOf(const Plan& plan, int number) {
  const int per_folder = (plan.objects + plan.folders - 1) / plan.folders;
  char key[64];
  std::snprintf(key, sizeof(key), "folder-%04d/object-%07d", number / per_folder, number);
  return key;
}

void PutOne(store::Store& target, const Plan& plan, int number) {
  store::PutObject put;
  put.bucket = plan.bucket;
  put.record.key = penstock::ObjectKey(KeyOf(plan, number));
  put.record.etag = penstock::ETag("900150983cd24fb0d6963f7d28e17f72");
  put.record.size = plan.body.size();
  put.record.owner_id = kOwner;
  put.record.storage_class = "STANDARD";
  put.record.checksum_algorithm = "CRC64NVME";
  put.record.checksum_type = "FULL_OBJECT";
  put.record.checksum = "rosUhgp5mIg=";
  put.record.attributes = {{"content-type", "binary/octet-stream"}};
  auto writer = target.NewBlob(plan.body.size());
  if (!writer.ok() || !(*writer)->Append(penstock::AsBytes(plan.body)).ok())
    Fail("no place for a body");
  auto content = (*writer)->Finish();
  if (!content.ok()) Fail(content.error().message);
  put.record.content = std::move(content).value();
  if (const auto done = target.Put(std::move(put)); !done.ok()) Fail(done.error().message);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) Fail("see the head of this file");
  const std::string directory = std::string(argv[1]) + "/generation-1";
  std::filesystem::create_directories(directory);
  auto opened = store::Store::Open(
      {.directory = directory,
       .durability = argc > 7 ? store::Durability::kStrict : store::Durability::kRelaxed});
  if (!opened.ok()) Fail(opened.error().message);
  store::Store& target = **opened;
  const Plan plan{penstock::BucketName(argv[2]), std::atoi(argv[3]), std::atoi(argv[4]),
                  std::string(static_cast<std::size_t>(std::atoi(argv[5])), 'x')};
  store::BucketRecord bucket;
  bucket.name = plan.bucket;
  bucket.owner_id = kOwner;
  bucket.region = "us-east-1";
  static_cast<void>(target.CreateBucket(bucket).ok());  // an existing bucket gets the objects too

  const auto begin = std::chrono::steady_clock::now();
  std::atomic<int> next{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::atoi(argv[6]); ++i) {
    threads.emplace_back([&] {
      for (int number = next++; number < plan.objects; number = next++)
        PutOne(target, plan, number);
    });
  }
  threads.clear();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  std::printf("{\"seconds\": %.4f, \"cpu\": %.4f, \"puts\": %d}\n", seconds.count(), CpuSeconds(),
              plan.objects);
  return 0;
}
