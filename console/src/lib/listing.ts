// S3's listings of keys and versions. A worker reads them, and workers have no XML parser, so that one for these documents is here.
import { decodeListed } from './keys.ts';
import { XmlError } from './xml.ts';

export type Query = Readonly<Record<string, string | number | undefined>>;

export interface Row {
  kind: 'prefix' | 'object' | 'delete marker';
  key: string; // The whole key or prefix.
  size: number;
  modified: string;
  storageClass: string;
  version?: string;
  latest?: boolean;
}

export interface Page {
  rows: Row[];
  next: Query | null; // Parameters of the next page.
}

export interface ListOptions {
  prefix: string;
  delimiter: string;
  versions: boolean;
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#x([0-9a-f]{1,6})|#([0-9]{1,7})|(\w+));/gi, (reference, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? reference;
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10ffff ? '\ufffd' : String.fromCodePoint(code);
  });
}

type Members = ReadonlyMap<string, string>;

// Calls `each` with the elements below the root that have members, and returns the texts of the others. What is deeper is skipped.
function readDocument(xml: string, each: (name: string, members: Members) => void): Members {
  const token = /\s*<(?:\?[^<>]*\?|(\/?)([A-Za-z][\w.-]*)(?:\s[^<>]*?)?(\/?))>([^<]*)/gy; // A tag and the text behind it.
  const texts = new Map<string, string>();
  const open: string[] = [];
  let members = new Map<string, string>();
  let text = '';
  let roots = 0;
  const close = (name: string) => {
    if (open.pop() !== name) throw new XmlError();
    if (open.length === 2) members.set(name, decoded(text));
    if (open.length !== 1) return;
    if (members.size === 0) texts.set(name, decoded(text));
    else each(name, members);
    members = new Map();
  };
  for (let at = 0; at < xml.length; at = token.lastIndex) {
    const found = token.exec(xml);
    if (!found) throw new XmlError();
    const [, end, name, empty, behind] = found;
    if (name === undefined) continue; // The declaration.
    if (end) close(name);
    else {
      if (open.length === 0) roots++;
      open.push(name);
      text = empty ? '' : behind!;
      if (empty) close(name);
    }
  }
  if (open.length > 0 || roots !== 1) throw new XmlError();
  return texts;
}

function rowOf(name: string, members: Members): Row | null {
  if (name === 'CommonPrefixes') return { kind: 'prefix', key: decodeListed(members.get('Prefix') ?? ''), size: 0, modified: '', storageClass: '' };
  if (name !== 'Contents' && name !== 'Version' && name !== 'DeleteMarker') return null;
  const row: Row = {
    kind: name === 'DeleteMarker' ? 'delete marker' : 'object',
    key: decodeListed(members.get('Key') ?? ''),
    size: Number(members.get('Size') ?? 0),
    modified: members.get('LastModified') ?? '',
    storageClass: members.get('StorageClass') ?? '',
  };
  const version = members.get('VersionId');
  if (version !== undefined) {
    row.version = version;
    row.latest = members.get('IsLatest') === 'true';
  }
  return row;
}

// A page with `encoding-type=url`.
export function parseListing(xml: string, options: ListOptions): Page {
  const rows: Row[] = [];
  const texts = readDocument(xml, (name, members) => {
    const row = rowOf(name, members);
    if (row) rows.push(row);
  });
  // S3 sends prefixes after objects. The order of versions of one key stays.
  if (options.delimiter) rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  if (texts.get('IsTruncated') !== 'true') return { rows, next: null };
  const next = options.versions
    ? { 'key-marker': decodeListed(texts.get('NextKeyMarker') ?? ''), 'version-id-marker': texts.get('NextVersionIdMarker') || undefined }
    : { 'continuation-token': texts.get('NextContinuationToken') };
  return { rows, next };
}
