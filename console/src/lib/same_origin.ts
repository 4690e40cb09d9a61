// Which requests the server of `./dev console --serve` passes on to the admin API.

export const originHeaders = ['origin', 'referer', 'sec-fetch-site'] as const;

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

// Whether no page of another origin can have sent the request: a browser tells it by these headers, other programs send none of them.
// The host is checked too, by Vite.
export function isSameOrigin(headers: Headers): boolean {
  const { host, origin, referer, 'sec-fetch-site': site } = headers;
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  const own = `http://${String(host)}`;
  if (origin !== undefined && origin !== own) return false;
  return referer === undefined || String(referer).startsWith(`${own}/`);
}
