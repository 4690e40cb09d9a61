// Sets of bytes as sorted, disjoint, half-open ranges. Pure.

export type Range = readonly [begin: number, end: number];

// Bytes that at least `times` of the ranges have.
export function coveredAtLeast(ranges: readonly Range[], times: number): Range[] {
  const edges: [number, number][] = [];
  for (const [begin, end] of ranges) if (begin < end) edges.push([begin, 1], [end, -1]);
  edges.sort((a, b) => a[0] - b[0] || b[1] - a[1]); // Beginnings first, so that adjacent ranges become one.
  const result: [number, number][] = [];
  let depth = 0;
  for (const [at, change] of edges) {
    const before = depth;
    depth += change;
    if (before < times && depth >= times) result.push([at, at]);
    else if (before >= times && depth < times) result.at(-1)![1] = at;
  }
  return result.filter(([begin, end]) => begin < end);
}

// Index of the first range that ends after `at`. The ranges are sorted and disjoint.
export function firstAfter(ranges: readonly Range[], at: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ranges[middle]![1] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

export function bytesIn(ranges: readonly Range[], begin: number, end: number): number {
  let sum = 0;
  for (let i = firstAfter(ranges, begin); i < ranges.length && ranges[i]![0] < end; i++) {
    sum += Math.min(end, ranges[i]![1]) - Math.max(begin, ranges[i]![0]);
  }
  return sum;
}

// The bytes of `ranges` that are not in `others`. Both are sorted and disjoint.
export function without(ranges: readonly Range[], others: readonly Range[]): Range[] {
  const result: Range[] = [];
  for (const [begin, end] of ranges) {
    let at = begin;
    for (let i = firstAfter(others, begin); i < others.length && others[i]![0] < end; i++) {
      if (others[i]![0] > at) result.push([at, others[i]![0]]);
      at = Math.max(at, others[i]![1]);
    }
    if (at < end) result.push([at, end]);
  }
  return result;
}

// Ranges as the header Range writes them, `0-99, 200-299`, with inclusive ends. Throws an Error for the user.
export function parseRanges(text: string): Range[] {
  const parts = text.split(',').map((part) => part.trim()).filter((part) => part !== '');
  const ranges = parts.map((part): Range => {
    const match = /^(\d{1,15})\s*-\s*(\d{1,15})$/.exec(part);
    if (!match) throw new Error(`“${part}” is not a range: write the first and the last byte, for example 0-99.`);
    const [begin, last] = [Number(match[1]), Number(match[2])];
    if (last < begin) throw new Error(`The range ${part} ends before it begins.`);
    return [begin, last + 1];
  });
  return coveredAtLeast(ranges, 1);
}

export function formatRanges(ranges: readonly Range[]): string {
  return ranges.map(([begin, end]) => `${begin}-${end - 1}`).join(', ');
}
