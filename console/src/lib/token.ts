// Whether a token can be the value of a header: fetch accepts characters of Latin-1 only, and no line breaks.
export function isHeaderText(token: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(token);
}
