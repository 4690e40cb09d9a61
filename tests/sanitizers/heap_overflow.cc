// Reads one element past a heap array. AddressSanitizer must end it.
int main() {
  volatile int* numbers = new int[4]();
  volatile int index = 4;
  volatile int read = numbers[index];
  (void)read;
  delete[] numbers;
  return 0;
}
