// The named parts of an object: tensors, columns, items of a checkpoint.
import { ApiError } from '../api.ts';
import type { Item } from '../lib/formats/binary.ts';
import { itemsOfFile, readDcpMetadata } from '../lib/formats/dcp.ts';
import { looksLikeSafetensors, readSafetensors } from '../lib/formats/safetensors.ts';
import { prefixesOf } from '../lib/keys.ts';
import { headObject, readRange, type Address } from '../s3.ts';

export interface Layout {
  size: number; // Of the object; 0: there is none any more.
  kind: string; // 'Tensors', ...; '': unknown structure.
  items: Item[];
}

const maxMetadataBytes = 256 * 2 ** 20;
const foldersToSearch = 4;

// null: no object.
async function headOf(address: Address, signal: AbortSignal) {
  try {
    return await headObject(address, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}

// The items of a checkpoint's file, from `.metadata` in its folder or one above: prefix strategies put files in folders of their own.
async function checkpointItems(address: Address, signal: AbortSignal): Promise<Item[]> {
  const { key } = address;
  const folders = ['', ...prefixesOf(key, '/')].reverse().slice(0, foldersToSearch);
  for (const folder of folders) {
    const metadata = { ...address, key: `${folder}.metadata` };
    if (metadata.key === key) return [];
    const head = await headOf(metadata, signal);
    if (!head || head.size > maxMetadataBytes) continue;
    const items = itemsOfFile(readDcpMetadata(await readRange(metadata, 0, head.size, head.etag, signal)), key.slice(folder.length));
    if (items.length > 0) return items;
  }
  return [];
}

export async function layoutOf(address: Address, signal: AbortSignal): Promise<Layout> {
  const head = await headOf(address, signal);
  if (head === null) return { size: 0, kind: '', items: [] };
  const { size, etag } = head;
  const read = (begin: number, end: number) => readRange(address, begin, Math.min(end, size), etag, signal);
  try {
    const items = await checkpointItems(address, signal);
    if (items.length > 0) return { size, kind: 'Items of the checkpoint', items };
    const start = await read(0, 12);
    if (looksLikeSafetensors(start)) return { size, kind: 'Tensors', items: (await readSafetensors(read)).tensors };
    if (size >= 12 && String.fromCharCode(...start.subarray(0, 4)) === 'PAR1') {
      const { readParquet } = await import('../lib/formats/parquet.ts');
      return { size, kind: 'Columns of row groups', items: (await readParquet(size, read)).chunks };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    // Another format, or damaged: the picture is drawn without its parts.
  }
  return { size, kind: '', items: [] };
}
