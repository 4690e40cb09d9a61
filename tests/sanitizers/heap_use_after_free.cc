// Reads a heap object after it was freed. AddressSanitizer must end it.
int main() {
  volatile int* number = new int(7);
  delete number;
  return *number == 7 ? 0 : 0;
}
