// The header of a safetensors file: 8 bytes with its length, then JSON.
import { FormatError, shapeText, uint64, type Item, type ReadRange } from './binary.ts';

const maxHeaderBytes = 100_000_000; // That of the format.

export interface Safetensors {
  tensors: (Item & { dtype: string; shape: number[] })[]; // In the order of their bytes.
  metadata: [string, string][];
}

export function looksLikeSafetensors(start: Uint8Array): boolean {
  if (start.length < 9) return false;
  const size = uint64(start, 0);
  return start[8] === 0x7b && size >= 2 && size <= maxHeaderBytes;
}

interface Entry {
  dtype: unknown;
  shape: unknown;
  data_offsets: unknown;
}

const areNumbers = (value: unknown): value is number[] => Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);

// `json`: the header after its length, with or without padding.
export function parseHeader(json: Uint8Array): Safetensors {
  let members: Record<string, unknown>;
  try {
    members = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(json)) as Record<string, unknown>;
  } catch {
    throw new FormatError('The header of the safetensors file is not JSON.');
  }
  if (members === null || typeof members !== 'object' || Array.isArray(members)) throw new FormatError('The header of the safetensors file is not a JSON object.');
  const start = 8 + json.length;
  const result: Safetensors = { tensors: [], metadata: [] };
  for (const [name, value] of Object.entries(members)) {
    if (name === '__metadata__') {
      result.metadata = Object.entries((value ?? {}) as Record<string, unknown>).map(([key, text]) => [key, String(text)]);
      continue;
    }
    const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Entry;
    if (typeof dtype !== 'string' || !areNumbers(shape) || !areNumbers(offsets) || offsets.length !== 2 || offsets[0]! > offsets[1]!) {
      throw new FormatError(`The header of the safetensors file has no valid dtype, shape and data_offsets for “${name}”.`);
    }
    result.tensors.push({ name, dtype, shape, detail: `${dtype} ${shapeText(shape)}`, begin: start + offsets[0]!, end: start + offsets[1]! });
  }
  result.tensors.sort((a, b) => a.begin - b.begin);
  return result;
}

export async function readSafetensors(read: ReadRange): Promise<Safetensors> {
  const start = await read(0, 8);
  const size = start.length === 8 ? uint64(start, 0) : 0;
  if (size < 2 || size > maxHeaderBytes) throw new FormatError(`The file is not safetensors: the length of its header is ${size}.`);
  const json = await read(8, 8 + size);
  if (json.length < size) throw new FormatError('The file ends within its header.');
  return parseHeader(json);
}
