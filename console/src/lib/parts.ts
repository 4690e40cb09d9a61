// How an upload is divided.

export const multipartFrom = 16 * 2 ** 20;
const smallestPart = 8 * 2 ** 20;
const maxParts = 10_000;

export interface Part {
  number: number; // From 1 on.
  begin: number;
  end: number;
}

// [] for files that one PutObject uploads.
export function partsOf(size: number): Part[] {
  if (size < multipartFrom) return [];
  const partSize = Math.max(smallestPart, Math.ceil(size / maxParts / 2 ** 20) * 2 ** 20);
  return Array.from({ length: Math.ceil(size / partSize) }, (_, i) => ({ number: i + 1, begin: i * partSize, end: Math.min(size, (i + 1) * partSize) }));
}
