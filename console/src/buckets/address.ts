// The addresses of this view: `#/buckets/BUCKET?tab=…&prefix=…&key=…&version=…`.
import { formatRoute } from '../lib/route.ts';

export interface BucketState {
  tab?: string | undefined; // '': the objects.
  prefix?: string | undefined;
  search?: string | undefined;
  flat?: string | undefined; // '1': without folders.
  versions?: string | undefined; // '1': with versions.
  key?: string | undefined; // The object that is shown.
  version?: string | undefined;
}

export function bucketHash(bucket: string, state: BucketState = {}): string {
  return formatRoute('buckets', [bucket], Object.entries(state));
}

export function rangesHash(bucket: string, key: string): string {
  return formatRoute('ranges', [bucket, key]);
}
