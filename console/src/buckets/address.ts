// The addresses of this view: `#/buckets/BUCKET?namespace=…&tab=…&prefix=…&key=…&version=…`.
import type { Row } from '../lib/listing.ts';
import { hashOf } from '../router.ts';

export interface BucketState {
  tab?: string | undefined; // '': the objects.
  prefix?: string | undefined;
  search?: string | undefined;
  flat?: string | undefined; // '1': without folders.
  versions?: string | undefined; // '1': with versions.
  key?: string | undefined; // The object that is shown.
  version?: string | undefined;
  marker?: string | undefined; // '1': the version is a delete marker.
}

// Changes of the parameters that show a row, or none.
export function shownObject({ kind, key, version }: Row): Record<string, string | undefined> {
  return { key, version, marker: kind === 'delete marker' ? '1' : '' };
}

export const noObject = { key: '', version: '', marker: '' };

export function bucketHash(bucket: string, state: BucketState = {}): string {
  return hashOf('buckets', [bucket], Object.entries(state));
}

export function rangesHash(bucket: string, key: string): string {
  return hashOf('ranges', [bucket, key]);
}
