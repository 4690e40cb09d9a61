// Measures the cost of TLS alone and prints it as one JSON line.
//
//   bench_client_tls ssl_read HOST PORT TARGET SIZE ROUNDS
//       a hand-written request, SSL_read into the final buffer
//   bench_client_tls decrypt SIZE ROUNDS
//   bench_client_tls encrypt SIZE ROUNDS
//       AES-256-GCM records of 16 KiB, decrypted or encrypted into one buffer that is reused
//
// The buffer is written before the measurement. CPU is user plus system time of this process.
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "bench/clients/connect.h"
#include "bench/clients/cost.h"

namespace {

using penstock::bench::CpuSeconds;
using penstock::bench::Fail;

constexpr std::size_t kRecord = 16 << 10;

SSL* ConnectTls(const char* host, int port) {
  SSL_CTX* const context = SSL_CTX_new(TLS_client_method());
  SSL* const tls = SSL_new(context);
  SSL_set_fd(tls, penstock::bench::Connect(host, port));
  if (SSL_connect(tls) != 1) Fail("no TLS");
  return tls;
}

void Get(SSL* tls, const std::string& request, std::vector<char>& buffer) {
  if (SSL_write(tls, request.data(), static_cast<int>(request.size())) <= 0)
    Fail("SSL_write failed");
  std::size_t have = 0;
  std::size_t head = std::string_view::npos;
  while (head == std::string_view::npos) {
    const int count = SSL_read(tls, buffer.data() + have, 4096);
    if (count <= 0) Fail("the connection ended inside the head");
    have += static_cast<std::size_t>(count);
    head = std::string_view(buffer.data(), have).find("\r\n\r\n");
  }
  if (!std::string_view(buffer.data(), have).starts_with("HTTP/1.1 200"))
    Fail("the response is " + std::string(buffer.data(), have));
  have -= head + 4;
  std::memmove(buffer.data(), buffer.data() + head + 4, have);
  while (have < buffer.size()) {
    const int count =
        SSL_read(tls, buffer.data() + have,
                 static_cast<int>(std::min<std::size_t>(buffer.size() - have, 1 << 20)));
    if (count <= 0) Fail("the connection ended inside the body");
    have += static_cast<std::size_t>(count);
  }
}

// Decrypts or encrypts `size` bytes.
void Crypt(std::size_t size, bool encrypts) {
  static const std::array<unsigned char, 32> key{};
  static const std::array<unsigned char, 12> nonce{};
  static std::array<unsigned char, kRecord> input{};
  static std::array<unsigned char, kRecord> output{};
  static EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
  EVP_CipherInit_ex(context, EVP_aes_256_gcm(), nullptr, key.data(), nonce.data(), encrypts);
  for (std::size_t done = 0; done < size; done += kRecord) {
    int count = 0;
    EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce.data(), encrypts);
    if (EVP_CipherUpdate(context, output.data(), &count, input.data(), kRecord) != 1)
      Fail("EVP_CipherUpdate failed");
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  const bool reads = mode == "ssl_read" && argc == 7;
  const bool encrypts = mode == "encrypt";
  if (!reads && !((encrypts || mode == "decrypt") && argc == 4))
    Fail("see the head of client_tls.cc");
  const std::size_t size = std::strtoull(argv[reads ? 5 : 2], nullptr, 10);
  const int rounds = std::atoi(argv[reads ? 6 : 3]);
  SSL* tls = nullptr;
  std::string request;
  std::vector<char> buffer(reads ? size : 0, 1);
  if (reads) {
    tls = ConnectTls(argv[2], std::atoi(argv[3]));
    request = "GET " + std::string(argv[4]) + " HTTP/1.1\r\nHost: " + argv[2] + ":" + argv[3] +
              "\r\n\r\n";
  }
  const auto once = [&] { reads ? Get(tls, request, buffer) : Crypt(size, encrypts); };
  once();
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) once();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"bytes\": %.0f, \"peak_mib\": 0}\n", seconds,
              CpuSeconds() - cpu, static_cast<double>(size) * rounds);
  return 0;
}
