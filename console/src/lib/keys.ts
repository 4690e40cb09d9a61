// Object keys: any text of up to 1,024 bytes. How to show them harmlessly, and how to send them.

// The URL standard removes these segments from a path, also where the dots are percent-encoded.
export function hasDotSegment(key: string): boolean {
  return key.split('/').some((segment) => segment === '.' || segment === '..');
}

// A parameter of a query. encodeURIComponent writes a space as %20, which S3 cannot take for a plus.
export function queryText(parameters: Iterable<readonly [string, string | number | undefined]>): string {
  const parts: string[] = [];
  for (const [name, value] of parameters) {
    if (value !== undefined) parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  }
  return parts.length > 0 ? `?${parts.join('&')}` : '';
}

// A name in a listing with `encoding-type=url`.
export function decodeListed(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

// A value of a query. One that is not encoded stays as it is.
export function decodedParameter(text: string): string {
  try {
    return decodeListed(text);
  } catch {
    return text;
  }
}

export interface Piece {
  text: string;
  escaped: boolean; // `text` is an escape for a character that has no glyph, or that changes how others are shown.
}

// Control and format characters (among them those of bidirectional text), separators of lines, private and unassigned characters, lone
// surrogates, and all spaces but U+0020.
const invisible = /(?:\p{C}|\p{Zl}|\p{Zp}|(?! )\p{Zs})/u;
const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escapeOf(character: string): string {
  return names[character] ?? `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

export function visiblePieces(text: string): Piece[] {
  if (!invisible.test(text)) return [{ text, escaped: false }];
  const pieces: Piece[] = [];
  for (const character of text) {
    const escaped = invisible.test(character);
    const last = pieces.at(-1);
    if (last && !escaped && !last.escaped) last.text += character;
    else pieces.push({ text: escaped ? escapeOf(character) : character, escaped });
  }
  return pieces;
}

// For places that take plain text only, such as titles.
export function visibleText(text: string): string {
  return visiblePieces(text)
    .map((piece) => piece.text)
    .join('');
}

// Long texts keep their lines; only the characters that change the direction of others are escapes.
export function escapeDirections(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, escapeOf);
}

// A value as JSON whose strings have escapes for the same characters.
export function visibleJson(value: unknown, indent = 2): string {
  // Other characters of this kind than line feeds are in strings only.
  return JSON.stringify(value, null, indent).replace(/(?![\n ])(?:\p{C}|\p{Zl}|\p{Zp}|\p{Zs})/gu, (character) =>
    [...Array(character.length).keys()].map((i) => `\\u${character.charCodeAt(i).toString(16).padStart(4, '0')}`).join(''),
  );
}

// A name that a file system accepts, from the last segment of a key.
export function fileNameOf(key: string): string {
  const name = key
    .slice(key.lastIndexOf('/') + 1)
    .replace(/[\p{C}\p{Zl}\p{Zp}/\\:*?"<>|]/gu, '_')
    .replace(/^\.+/, '_')
    .slice(0, 150);
  return name || 'object';
}

// The prefixes above a prefix, the outermost first: `a/`, `a/b/` of `a/b/`.
export function prefixesOf(prefix: string, delimiter: string): string[] {
  if (delimiter === '') return prefix === '' ? [] : [prefix];
  const all: string[] = [];
  for (let at = prefix.indexOf(delimiter); at >= 0; at = prefix.indexOf(delimiter, at + delimiter.length)) {
    all.push(prefix.slice(0, at + delimiter.length));
  }
  return all;
}
