// Which bytes of an object were read, when and by whom.
import { useStore } from '../lib/store.ts';
import { namespace } from '../live.ts';
import { ObjectPicker } from '../ranges/object_picker.tsx';
import { ObjectRanges } from '../ranges/object_ranges.tsx';
import { route } from '../router.ts';
import './ranges.css';

export default function Ranges() {
  const { path } = useStore(route);
  const selected = useStore(namespace);
  const [bucket = '', ...segments] = path;
  const key = segments.join('/');
  if (bucket === '' || key === '') return <ObjectPicker namespace={selected} />;
  return <ObjectRanges key={`${bucket}/${key}`} object={{ namespace: selected, bucket, key }} />;
}
