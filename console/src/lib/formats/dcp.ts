// `.metadata` of torch.distributed.checkpoint: a pickle that says which tensor is in which bytes of which file.
import { FormatError, shapeText, type Item } from './binary.ts';
import { Call, Dict, Global, readPickle, type Value } from './pickle.ts';

export interface DcpItem {
  name: string; // The fully qualified name.
  dtype: string; // '' for objects that are not tensors.
  shape: readonly (number | bigint)[]; // Of the whole tensor.
  chunk: readonly (number | bigint)[]; // Of this part of it.
  offsets: readonly (number | bigint)[];
  file: string;
  begin: number;
  end: number;
}

function classOf(value: Value | undefined): string {
  const name = value instanceof Call && value.callee instanceof Global ? value.callee.name : '';
  return name.startsWith('torch.distributed.') ? name.slice(name.lastIndexOf('.') + 1) : '';
}

function member(object: Value | undefined, name: string): Value | undefined {
  return object instanceof Call && object.state instanceof Dict ? object.state.get(name) : undefined;
}

const maxDimensions = 64; // That of torch.

function numbers(value: Value | undefined): (number | bigint)[] | null {
  const isNumber = (one: Value) => typeof one === 'number' || typeof one === 'bigint';
  return Array.isArray(value) && value.length <= maxDimensions && value.every(isNumber) ? (value as (number | bigint)[]) : null;
}

// TensorProperties is a tuple of torch's __getstate__, or a dict of attributes.
function dtypeOf(tensor: Value): string {
  const properties = member(tensor, 'properties');
  const state = properties instanceof Call ? properties.state : null;
  const dtype = Array.isArray(state) ? state[0] : state instanceof Dict ? state.get('dtype') : undefined;
  return dtype instanceof Global ? dtype.name.replace(/^torch\./, '') : '';
}

interface Shape {
  dtype: string;
  shape: readonly (number | bigint)[];
  chunks: Map<string, readonly (number | bigint)[]>; // By their offsets.
}

function shapesOf(root: Value): Map<string, Shape> {
  const entries = member(root, 'state_dict_metadata');
  if (!(entries instanceof Dict)) throw new FormatError('The pickle is not the metadata of a distributed checkpoint: it has no state_dict_metadata.');
  const shapes = new Map<string, Shape>();
  for (const [name, entry] of entries.entries) {
    if (typeof name !== 'string') continue;
    const chunks = new Map<string, readonly (number | bigint)[]>();
    const listed = member(entry, 'chunks');
    for (const chunk of Array.isArray(listed) ? listed : []) {
      chunks.set(String(numbers(member(chunk, 'offsets')) ?? ''), numbers(member(chunk, 'sizes')) ?? []);
    }
    const tensor = classOf(entry) === 'TensorStorageMetadata';
    shapes.set(name, { dtype: tensor ? dtypeOf(entry) : '', shape: numbers(member(entry, 'size')) ?? [], chunks });
  }
  return shapes;
}

// In the order of files and bytes.
export function readDcpMetadata(bytes: Uint8Array): DcpItem[] {
  const root = readPickle(bytes);
  if (classOf(root) !== 'Metadata') throw new FormatError('The pickle is not the metadata of a distributed checkpoint.');
  const shapes = shapesOf(root);
  const places = member(root, 'storage_data');
  if (!(places instanceof Dict)) throw new FormatError('The metadata has no storage_data.');
  const items: DcpItem[] = [];
  for (const [index, place] of places.entries) {
    const name = member(index, 'fqn');
    const [file, begin, length] = [member(place, 'relative_path'), member(place, 'offset'), member(place, 'length')];
    if (typeof name !== 'string' || typeof file !== 'string' || typeof begin !== 'number' || typeof length !== 'number') {
      throw new FormatError('The metadata has an item without name, file, offset or length.');
    }
    const shape = shapes.get(name);
    const offsets = numbers(member(index, 'offset')) ?? [];
    const chunk = shape?.chunks.get(String(offsets)) ?? shape?.shape ?? [];
    items.push({ name, dtype: shape?.dtype ?? '', shape: shape?.shape ?? [], chunk, offsets, file, begin, end: begin + length });
  }
  return items.sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.begin - b.begin));
}

// The items of one file. A part of a tensor says where in the tensor it is.
export function itemsOfFile(items: readonly DcpItem[], file: string): Item[] {
  return items
    .filter((item) => item.file === file)
    .map(({ name, dtype, shape, chunk, offsets, begin, end }) => {
      const part = String(chunk) !== String(shape) ? ` of ${shapeText(shape)}, at ${offsets.join(', ')}` : '';
      return { name, detail: dtype ? `${dtype} ${shapeText(chunk)}${part}` : 'object', begin, end };
    });
}
