// The addresses of this view: `#/buckets/BUCKET?namespace=…&tab=…&prefix=…&key=…&version=…`.
import { hashOf } from '../router.ts';

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
  return hashOf('buckets', [bucket], Object.entries(state));
}

export function rangesHash(bucket: string, key: string): string {
  return hashOf('ranges', [bucket, key]);
}
