// Prints an object to standard output, reading ahead while it writes.
#include <cstdio>

#include "command_line.h"
#include "penstock/transfer.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "get s3://bucket/key [--endpoint URL] [--region NAME] > file", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));

  penstock::ObjectStream::Source source;
  source.bucket = place.bucket;
  source.key = penstock::ObjectKey(place.path);
  const auto stream = penstock::ObjectStream::Open(line.MakeClient(), source, {});
  for (;;) {
    const auto block = stream->Next();
    if (!block.ok()) examples::Die(block.error().ToString());
    if (!*block) return std::fflush(stdout) == 0 ? 0 : 1;
    if (std::fwrite((*block)->data.get(), 1, (*block)->size, stdout) != (*block)->size) {
      examples::Die("cannot write to standard output");
    }
  }
}
