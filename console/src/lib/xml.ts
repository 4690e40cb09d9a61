// S3's XML: reading with the browser's parser, writing by escapes.

export class XmlError extends Error {
  constructor() {
    super('The emulator’s response is not XML.');
    this.name = 'XmlError';
  }
}

// Any parser with the browser's interface. Documents of S3 have no document type, so none of its entities are defined.
export interface XmlParser {
  parseFromString(text: string, type: 'text/xml'): Document;
}

// S3 writes characters of keys that XML 1.0 does not have, as references or as they are. The parser would refuse the document.
function withValidCharacters(text: string): string {
  if (!/&#|[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/.test(text)) return text; // Fast, for long listings.
  const valid = (character: string) => (fitsXml(character) ? character : '\ufffd');
  const references = text.replace(/&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));/gi, (reference, hex?: string, decimal?: string) => {
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return code > 0x10ffff || !fitsXml(String.fromCodePoint(code)) ? '\ufffd' : reference;
  });
  return fitsXml(references) ? references : Array.from(references, valid).join('');
}

export function parseXml(text: string, parser: XmlParser = new DOMParser()): Element {
  const document = parser.parseFromString(withValidCharacters(text), 'text/xml');
  const root = document.documentElement as Element | null;
  if (!root || document.getElementsByTagName('parsererror').length > 0) throw new XmlError();
  return root;
}

export function* childrenOf(element: Element): Generator<Element> {
  for (let node = element.firstChild; node; node = node.nextSibling) if (node.nodeType === 1) yield node as Element;
}

export function childrenNamed(element: Element, name: string): Element[] {
  return [...childrenOf(element)].filter((child) => child.localName === name);
}

// The text at a path of names, '' where there is none.
export function textAt(element: Element, ...path: string[]): string {
  let at: Element | undefined = element;
  for (const name of path) at = at && childrenNamed(at, name)[0];
  return at?.textContent ?? '';
}

// The texts of an element's children by name. The last of equal names counts.
export function membersOf(element: Element): Map<string, string> {
  const members = new Map<string, string>();
  for (const child of childrenOf(element)) members.set(child.localName, child.textContent ?? '');
  return members;
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;', '\n': '&#10;', '\t': '&#9;' };

export function xmlEscape(text: string): string {
  return text.replace(/[&<>"\r\n\t]/g, (character) => escapes[character]!);
}

// Whether XML 1.0 has all characters of the text.
export function fitsXml(text: string): boolean {
  return /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u.test(text);
}

// The document with one element per line, for people. S3's documents have no mixed content.
export function indented(element: Element, indent = ''): string {
  const attributes = [...element.attributes].map((one) => ` ${one.name}="${xmlEscape(one.value)}"`).join('');
  const start = `${indent}<${element.tagName}${attributes}`;
  const children = [...childrenOf(element)];
  if (children.length > 0) {
    return `${start}>\n${children.map((child) => indented(child, `${indent}  `)).join('')}${indent}</${element.tagName}>\n`;
  }
  const text = element.textContent ?? '';
  return text === '' ? `${start}/>\n` : `${start}>${xmlEscape(text)}</${element.tagName}>\n`;
}
