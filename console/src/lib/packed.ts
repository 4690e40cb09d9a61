// Rows of a listing as bytes. A million rows as objects would take hundreds of megabytes, and the collector of garbage would stop the
// page to look through them. Packed, a row takes about 80 bytes, which no collector looks at; the few that are shown are unpacked.
import type { Row } from './listing.ts';

export interface Packed {
  bytes: Uint8Array<ArrayBuffer>;
  count: number;
}

const kinds = ['object', 'prefix', 'delete marker'] as const;
type Tuple = [key: string, size: number, modified: string, storageClass: string, kind?: number, version?: string, latest?: boolean];

function tupleOf({ key, size, modified, storageClass, kind, version, latest }: Row): Tuple {
  if (version !== undefined) return [key, size, modified, storageClass, kinds.indexOf(kind), version, latest ?? false];
  return kind === 'object' ? [key, size, modified, storageClass] : [key, size, modified, storageClass, kinds.indexOf(kind)];
}

export function packRows(rows: readonly Row[]): Packed {
  return { bytes: new TextEncoder().encode(JSON.stringify(rows.map(tupleOf))), count: rows.length };
}

export function unpackRows({ bytes }: Packed): Row[] {
  const tuples = JSON.parse(new TextDecoder().decode(bytes)) as Tuple[];
  return tuples.map(([key, size, modified, storageClass, kind = 0, version, latest = false]) => {
    const row: Row = { kind: kinds[kind]!, key, size, modified, storageClass };
    return version === undefined ? row : { ...row, version, latest };
  });
}

const mostUnpacked = 8; // Pages.

// Rows that are added a page at a time. `snapshot` is a value: it does not change when more are added.
export class PackedRows {
  readonly #pages: Packed[] = [];
  readonly #starts: number[] = []; // The index of the first row of each page.
  readonly #unpacked = new Map<number, Row[]>(); // The last used is the last.
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(page: Packed): void {
    if (page.count === 0) return;
    this.#pages.push(page);
    this.#starts.push(this.#length);
    this.#length += page.count;
  }

  snapshot(): RowsSnapshot {
    return new RowsSnapshot(this, this.#length);
  }

  at(index: number): Row | undefined {
    if (index < 0 || index >= this.#length) return undefined;
    let low = 0;
    for (let high = this.#starts.length; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (this.#starts[middle]! <= index) low = middle;
      else high = middle;
    }
    return this.#page(low)[index - this.#starts[low]!];
  }

  #page(number: number): Row[] {
    const known = this.#unpacked.get(number);
    this.#unpacked.delete(number);
    const rows = known ?? unpackRows(this.#pages[number]!);
    this.#unpacked.set(number, rows);
    if (this.#unpacked.size > mostUnpacked) this.#unpacked.delete(this.#unpacked.keys().next().value!);
    return rows;
  }
}

export class RowsSnapshot {
  readonly length: number;
  readonly #rows: PackedRows;

  constructor(rows: PackedRows, length: number) {
    this.#rows = rows;
    this.length = length;
  }

  at(index: number): Row | undefined {
    return index < this.length ? this.#rows.at(index) : undefined;
  }

  slice(begin: number, end: number): Row[] {
    const rows: Row[] = [];
    for (let i = begin; i < Math.min(end, this.length); i++) rows.push(this.#rows.at(i)!);
    return rows;
  }
}
