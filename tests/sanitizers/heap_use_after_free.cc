// Reads a heap object after its death. AddressSanitizer must end it.
int main() {
  volatile int* number = new int(7);
  delete number;
  return *number == 7 ? 0 : 0;
}
