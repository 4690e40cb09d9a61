// Links penstock::torch and libtorch from their installations and makes calls that need no server.
// Prints OK.
#include <iostream>

#include "penstock/torch.h"

int main() {
  const auto stream = penstock::torch::PrefixStreamDataset::Create(nullptr, "file:///no/bucket");
  if (stream.ok() || stream.error().kind != penstock::ErrorKind::kInvalidArgument) {
    std::cerr << "a URI that is not s3:// should be an invalid argument\n";
    return 1;
  }
  const penstock::torch::Shard shard{.rank = 1, .world_size = 2};
  if (!shard.Owns(1) || shard.Owns(2)) {
    std::cerr << "rank 1 of 2 should own every other object\n";
    return 1;
  }
  if (torch::ones({2, 3}).sum().item<double>() != 6.0) {
    std::cerr << "libtorch cannot add\n";
    return 1;
  }
  std::cout << "OK\n";
  return 0;
}
