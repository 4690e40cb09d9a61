// Writes standard input to an object, which appears when it is complete.
#include <cstdio>
#include <vector>

#include "command_line.h"
#include "penstock/transfer.h"

int main(int argc, char** argv) {
  const examples::CommandLine line(
      argc, argv, "put s3://bucket/key [--endpoint URL] [--region NAME] < file", {});
  const examples::Place place = line.ParsePlace(line.Argument(0));

  const auto writer = penstock::ObjectWriter::Create(line.MakeClient(), place.bucket,
                                                     penstock::ObjectKey(place.path), {});
  std::vector<std::byte> buffer(1 << 20);
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    const auto written = writer->Write(penstock::ByteView(buffer).first(count));
    if (!written.ok()) examples::Die(written.error().ToString());
  }
  if (std::ferror(stdin) != 0) {
    const auto ignored = writer->Abort();
    static_cast<void>(ignored);
    examples::Die("standard input cannot be read; nothing was uploaded");
  }
  const auto done = writer->Finish();
  if (!done.ok()) examples::Die(done.error().ToString());
  std::printf("%llu bytes, ETag %s\n", static_cast<unsigned long long>(done->bytes),
              done->etag.value.c_str());
}
