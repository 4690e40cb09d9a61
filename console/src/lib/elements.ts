// Which element shows which row, where rows are replaced often: an element with another text costs less than a new element.

type Key = string | number;

// The elements, by row, for rows in this order. Rows that stay keep theirs; new rows get those of rows that leave, in order.
export function assignElements(previous: ReadonlyMap<Key, number>, rows: readonly Key[]): Map<Key, number> {
  const shown = new Set(rows);
  const free: number[] = [];
  let next = 0;
  for (const [row, element] of previous) {
    if (!shown.has(row)) free.push(element);
    next = Math.max(next, element + 1);
  }
  free.reverse();
  return new Map(rows.map((row) => [row, previous.get(row) ?? free.pop() ?? next++]));
}
