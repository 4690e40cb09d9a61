// Downloads all objects under a prefix in parallel. Prints size and key of each object
// in S3's order.
#include <cstdio>
#include <vector>

#include "command_line.h"
#include "penstock/transfer.h"

namespace {

// One download into separate memory.
struct Arrival {
  std::string key;
  std::vector<std::byte> bytes;
  penstock::Pending<penstock::DownloadResponse> done;
};

std::vector<penstock::ObjectKey> KeysBelow(const std::shared_ptr<penstock::Client>& client,
                                           const examples::Place& place) {
  std::vector<penstock::ObjectKey> keys;
  penstock::ListObjectsRequest request;
  request.bucket = place.bucket;
  request.prefix = place.path;
  const auto lister = penstock::Lister::Create(client, request);
  for (;;) {
    const auto page = lister->Next();
    if (!page.ok()) examples::Die(page.error().ToString());
    if (!*page) return keys;
    for (const penstock::ObjectSummary& object : (*page)->objects) keys.push_back(object.key);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "get_many s3://bucket/prefix [--endpoint URL] [--region NAME]", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));
  const std::shared_ptr<penstock::Client> client = line.MakeClient();

  const std::vector<penstock::ObjectKey> keys = KeysBelow(client, place);
  std::vector<Arrival> arrivals(keys.size());  // never resized: downloads point into it
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Arrival& arrival = arrivals[i];
    arrival.key = keys[i].value;
    penstock::DownloadRequest request;
    request.bucket = place.bucket;
    request.key = keys[i];
    request.destination =
        [&arrival](std::uint64_t size) -> penstock::Result<penstock::MutableByteView> {
      arrival.bytes.resize(size);
      return penstock::MutableByteView(arrival.bytes);
    };
    arrival.done = penstock::DownloadAsync(client, std::move(request));
  }
  // Waits for all, also after an error: the other downloads still write into `arrivals`.
  int failed = 0;
  for (Arrival& arrival : arrivals) {
    const auto result = arrival.done.Get();
    if (result.ok()) {
      std::printf("%zu %s\n", arrival.bytes.size(), arrival.key.c_str());
    } else {
      std::fprintf(stderr, "%s\n", result.error().ToString().c_str());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
