// Prints size and key of every object under a prefix.
#include <cstdio>

#include "command_line.h"
#include "penstock/transfer.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(argc, argv,
                                   "list s3://bucket/prefix [--endpoint URL] [--region NAME]", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));

  penstock::ListObjectsRequest request;
  request.bucket = place.bucket;
  request.prefix = place.path;
  const auto lister = penstock::Lister::Create(line.MakeClient(), request);
  for (;;) {
    const auto page = lister->Next();
    if (!page.ok()) examples::Die(page.error().ToString());
    if (!*page) return 0;
    for (const penstock::ObjectSummary& object : (*page)->objects) {
      std::printf("%12llu %s\n", static_cast<unsigned long long>(object.size),
                  object.key.value.c_str());
    }
  }
}
