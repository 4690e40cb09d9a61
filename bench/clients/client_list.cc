// Reads pages of a listing and prints the cost of each page to this process as one JSON line.
//
//   bench_client_list penstock ENDPOINT BUCKET PAGES
//   bench_client_list parser   - - PAGES
//
// `penstock`: lists the bucket in pages of 1,000 repeatedly, until PAGES pages are read; reads keys
// and sizes. `parser`: the lower bound: parses one such page in memory PAGES times. CPU is user
// plus system time of this process.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/clients/cost.h"
#include "bench/clients/make_client.h"
#include "client/s3/verbs/verbs.h"
#include "penstock/transfer.h"

namespace {

using penstock::bench::CpuSeconds;
using penstock::bench::Fail;
using penstock::bench::MakeClient;

constexpr int kPageKeys = 1000;

std::uint64_t seen = 0;  // keeps the compiler from removing the reads

void LookAt(const penstock::ListObjectsResponse& page) {
  for (const penstock::ObjectSummary& object : page.objects)
    seen += object.size + object.key.value.size();
}

void List(const std::shared_ptr<penstock::Client>& client, const char* bucket, int pages) {
  while (pages > 0) {
    penstock::ListObjectsRequest request;
    request.bucket = penstock::BucketName(bucket);
    const auto lister = penstock::Lister::Create(client, std::move(request));
    while (pages > 0) {
      auto page = lister->Next();
      if (!page.ok()) Fail(page.error().ToString());
      if (!*page) break;
      if ((*page)->objects.empty()) Fail("an empty page");
      LookAt(**page);
      --pages;
    }
  }
}

// A page in the format of S3, with keys like those of bench_seed_store.
std::string PageText() {
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult "
      "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
      "<Name>bench</Name><Prefix></Prefix><KeyCount>1000</KeyCount><MaxKeys>1000</"
      "MaxKeys><EncodingType>url</EncodingType>"
      "<IsTruncated>true</IsTruncated><NextContinuationToken>token</NextContinuationToken>";
  for (int i = 0; i < kPageKeys; ++i) {
    char object[512];
    std::snprintf(object, sizeof object,
                  "<Contents><Key>folder-0000%%2Fobject-%07d</"
                  "Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
                  "<ETag>&quot;d41d8cd98f00b204e9800998ecf8427e&quot;</ETag><Size>%d</"
                  "Size><StorageClass>STANDARD</StorageClass>"
                  "</Contents>",
                  i, i);
    text += object;
  }
  return text + "</ListBucketResult>";
}

void Parse(const penstock::s3::WireResponse& wire, int pages) {
  const penstock::ListObjectsRequest request;
  for (int i = 0; i < pages; ++i) {
    const auto page = penstock::s3::ParseResponse(request, wire);
    if (!page.ok()) Fail(page.error().ToString());
    if (page->objects.size() != kPageKeys) Fail("the page has not all keys");
    LookAt(*page);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 5 ? argv[1] : "";
  if (mode != "penstock" && mode != "parser") Fail("see the head of client_list.cc");
  const int pages = std::atoi(argv[4]);
  std::shared_ptr<penstock::Client> client;  // shared with its listers
  penstock::s3::WireResponse wire;
  if (mode == "penstock") {
    client = MakeClient(argv[2]);
    List(client, argv[3], 10);  // opens connections
  } else {
    wire.body = PageText();
    wire.head.status = 200;
  }
  const double cpu = CpuSeconds();
  if (client) {
    List(client, argv[3], pages);
  } else {
    Parse(wire, pages);
  }
  std::printf("{\"cpu_ms\": %.4f, \"seen\": %llu}\n", (CpuSeconds() - cpu) / pages * 1e3,
              static_cast<unsigned long long>(seen));
  return 0;
}
