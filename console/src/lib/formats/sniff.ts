// What the first bytes of an object are.
import { looksLikeSafetensors } from './safetensors.ts';

export type Kind = 'image' | 'parquet' | 'safetensors' | 'dcp' | 'text' | 'binary';

// Raster images only: an SVG is a document that can have scripts.
const images: readonly (readonly [string, string])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['474946383761', 'image/gif'],
  ['474946383961', 'image/gif'],
  ['424d', 'image/bmp'],
];

const hex = (bytes: Uint8Array) => [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);

// The media type of a raster image, or ''.
export function imageType(start: Uint8Array): string {
  const digits = hex(start.subarray(0, 12));
  const found = images.find(([magic]) => digits.startsWith(magic));
  if (found) return found[1];
  const text = latin1(start.subarray(0, 12));
  if (text.startsWith('RIFF') && text.endsWith('WEBP')) return 'image/webp';
  return /^....ftypavi[fs]$/s.test(text) ? 'image/avif' : '';
}

// UTF-8, possibly cut within a character, without control characters of binary files.
export function decodeText(bytes: Uint8Array, cut: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut });
    return /[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(text) ? null : text;
  } catch {
    return null;
  }
}

export function kindOf(key: string, start: Uint8Array, size: number): Kind {
  if (imageType(start)) return 'image';
  if (latin1(start.subarray(0, 4)) === 'PAR1' && size >= 12) return 'parquet';
  if (looksLikeSafetensors(start)) return 'safetensors';
  if (/(^|\/)\.metadata$/.test(key) && start[0] === 0x80) return 'dcp';
  return decodeText(start, start.length < size) === null ? 'binary' : 'text';
}

// Lines of offset, hexadecimal digits and ASCII.
export function hexDump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const line = bytes.subarray(at, at + 16);
    const digits = [...line].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const text = [...line].map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(8, '0')}  ${digits.padEnd(47)}  ${text}`);
  }
  return lines.join('\n');
}
