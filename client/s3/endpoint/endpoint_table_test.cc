// Replays endpoint_table.tsv, botocore's answers (tests/foreign/endpoint_table.py made them): every
// line through ResolveEndpoint, and the URL, the scheme, the signing name and region or the message
// must be the same.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "client/s3/endpoint/bucket_name.h"
#include "client/s3/endpoint/endpoint.h"

namespace penstock::s3 {
namespace {

using Fields = std::vector<std::string>;

Fields Split(const std::string& line, char separator) {
  Fields fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, separator);) fields.push_back(field);
  return fields;
}

std::string Given(const std::string& field) { return field == "-" ? "" : field; }

void SetFlag(const std::string& flag, EndpointInputs& in) {
  if (flag == "fips") in.fips = true;
  else if (flag == "dualstack") in.dualstack = true;
  else if (flag == "path") in.addressing = AddressingStyle::kPath;
  else if (flag == "accelerate") in.accelerate = true;
  else if (flag == "global") in.global_us_east_1 = true;
  else if (flag == "arn_region") in.use_arn_region = true;
  else if (flag == "client_region") in.use_arn_region = false;
  else if (flag == "no_mrap") in.multi_region_access_points = false;
  else if (flag == "no_access_points") in.operation.no_access_points = true;
  else if (flag == "control") in.operation.express_control = true;
  else if (flag == "no_session") in.express_sessions = false;
  else if (flag == "object_lambda") in.operation.object_lambda = true;
  else if (flag != "-") ADD_FAILURE() << "unknown flag " << flag;
}

std::string_view SchemeName(AuthScheme scheme) {
  if (scheme == AuthScheme::kSigV4Express) return "sigv4-s3express";
  return scheme == AuthScheme::kSigV4 ? "sigv4" : "sigv4a";
}

// "url\t…" or "error\t…", as the table has it.
std::string Ours(const Fields& row) {
  EndpointInputs in;
  in.bucket = Given(row[0]);
  in.region = Given(row[1]);
  if (row[2] != "-") {
    auto url = ParseEndpointUrl(row[2]);
    if (!url.ok()) return "error\t" + url.error().message;
    in.custom = *std::move(url);
  }
  for (const std::string& flag : Split(row[3], ',')) SetFlag(flag, in);
  const auto out = ResolveEndpoint(in);
  if (!out.ok()) return "error\t" + out.error().message;
  return "url\t" + out->endpoint.scheme + "://" + out->authority + out->BasePath(in.bucket) + "\t" +
         std::string(SchemeName(out->auth)) + "\t" + out->signing_name + "\t" + out->signing_region;
}

// The rule set has regions checked here and there; ours are always.
bool RegionIsOursToRefuse(const Fields& row) { return row[1] != "-" && !IsHostLabel(row[1]); }

// The rule set puts a name with dots in front of an address, where no request could go: ours put it
// into the path.
bool IsDottedAtAnAddress(const Fields& row) {
  return row[5].starts_with("http://dotted.name.127.0.0.1") ||
         row[5].starts_with("http://dotted.name.[");
}

TEST(EndpointTableTest, EveryLineOfBotocoresAnswersIsOurs) {
  std::ifstream file(PENSTOCK_ENDPOINT_TABLE);
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const Fields row = Split(line, '\t');
    ASSERT_GE(row.size(), 6u) << line;
    std::string expected = row[4];
    for (std::size_t i = 5; i < row.size(); ++i) expected += "\t" + row[i];
    if (RegionIsOursToRefuse(row))
      expected = "error\tInvalid region: region was not a valid DNS name.";
    if (IsDottedAtAnAddress(row))
      expected = "url\t" + row[2] + "/dotted.name\tsigv4\ts3\tus-west-2";
    const std::string ours = Ours(row);
    // Messages go on where ours name the value and the fix.
    const bool same = expected.starts_with("error") ? ours.starts_with(expected) : ours == expected;
    EXPECT_TRUE(same) << line << "\nours: " << ours;
  }
  EXPECT_GT(lines, 1500);
}

}  // namespace
}  // namespace penstock::s3
