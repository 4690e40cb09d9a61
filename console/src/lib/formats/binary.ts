// What the readers of file formats share.

// The bytes are not what their format says. The message is for the user.
export class FormatError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'FormatError';
  }
}

// Reads bytes [begin, end) of an object.
export type ReadRange = (begin: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;

// A part of a file that has a name: a tensor, a column of a row group, a checkpoint's item.
export interface Item {
  name: string;
  detail: string; // For example its type and shape.
  begin: number;
  end: number; // Exclusive.
}

// An unsigned 64-bit number, little-endian, as a double: exact below 2^53.
export function uint64(bytes: Uint8Array, at: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

export function shapeText(shape: readonly (number | bigint)[]): string {
  return shape.length === 0 ? 'scalar' : shape.join(' × ');
}
