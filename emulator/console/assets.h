// The files of the web console, as they are sent: compressed, with their headers.
//
// tools/console/embed.py writes them into a source file when the emulator is built.
#ifndef PENSTOCK_EMULATOR_CONSOLE_ASSETS_H_
#define PENSTOCK_EMULATOR_CONSOLE_ASSETS_H_

#include <span>
#include <string_view>

namespace penstock::emulator::console {

struct Asset {
  std::string_view path;  // below /console/: "index.html", "assets/index-C0FFEE.js"
  std::string_view content_type;
  std::string_view etag;  // with quotes
  std::span<const unsigned char> gzip;
};

// Empty: the console was not built before the emulator.
std::span<const Asset> EmbeddedAssets();

}  // namespace penstock::emulator::console

#endif  // PENSTOCK_EMULATOR_CONSOLE_ASSETS_H_
