// Buckets and their objects, over the unsigned S3 path of the admin port.
import { useStore } from '../lib/store.ts';
import { namespace } from '../live.ts';
import { route } from '../router.ts';
import { BucketList } from '../buckets/bucket_list.tsx';
import { BucketPage } from '../buckets/bucket_page.tsx';
import './buckets.css';

export default function Buckets() {
  const { path } = useStore(route);
  const selected = useStore(namespace);
  const bucket = path[0] ?? '';
  return bucket === '' ? <BucketList namespace={selected} /> : <BucketPage key={bucket} namespace={selected} bucket={bucket} />;
}
