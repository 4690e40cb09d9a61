// The horizontal axis of the picture: bytes to pixels. Pure.

export interface Window {
  from: number;
  to: number; // Bytes, with fractions while the user drags.
}

const smallest = 16; // Bytes.

// The window within [0, size), of the same length if it fits.
export function clamp({ from, to }: Window, size: number): Window {
  const length = Math.min(size, Math.max(smallest, to - from));
  const start = Math.max(0, Math.min(size - length, from));
  return { from: start, to: start + length };
}

// Zooms by `factor` (below 1: closer); the byte at `at` stays where it is.
export function zoom({ from, to }: Window, at: number, factor: number, size: number): Window {
  const length = Math.max(smallest, Math.min(size, (to - from) * factor));
  const share = to > from ? (at - from) / (to - from) : 0.5;
  const start = at - share * length;
  return clamp({ from: start, to: start + length }, size);
}

export function pan({ from, to }: Window, bytes: number, size: number): Window {
  return clamp({ from: from + bytes, to: to + bytes }, size);
}

// Offsets of at most `most` marks, at multiples of a power of two.
export function ticks({ from, to }: Window, most: number): number[] {
  let step = 1;
  while ((to - from) / step > most) step *= 2;
  const marks: number[] = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) marks.push(at);
  return marks;
}
