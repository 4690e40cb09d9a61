// Reads an int through an odd address. UndefinedBehaviorSanitizer must end it, not only report it.
int main() {
  alignas(int) char bytes[2 * sizeof(int)] = {};
  const char* odd = bytes + 1;
  volatile int read = *reinterpret_cast<const int*>(odd);
  return read;
}
