// Chooses the object whose reads are shown: one that the journal knows, or another one.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Alert, Field, Panel } from '../components/basic.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { bytes, count, plural } from '../lib/format.ts';
import { useLoading } from '../lib/loading.ts';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import { hashOf, navigate } from '../router.ts';
import { ask } from './use_reads.ts';

interface Used {
  bucket: string;
  key: string;
  reads: number;
  bytes_out: number; // Of the bodies of these reads.
}

interface Answer {
  objects: Used[];
  objects_dropped: number;
}

// Without a filter the answer's bytes are those of every operation, and of errors.
const successfulReads = { operations: ['GetObject'], status: 2 };

const columns: Column<Used>[] = [
  {
    id: 'object',
    title: 'Object',
    width: 'minmax(150px, 1fr)',
    cell: ({ bucket, key }) => (
      <>
        {bucket}/<Name text={key} />
      </>
    ),
    compare: (a, b) => (`${a.bucket}/${a.key}` < `${b.bucket}/${b.key}` ? -1 : 1),
  },
  { id: 'reads', title: 'Reads', width: '100px', end: true, cell: ({ reads }) => count(reads), compare: (a, b) => a.reads - b.reads },
  { id: 'read', title: 'Bytes sent', width: '120px', end: true, cell: (one) => bytes(one.bytes_out), compare: (a, b) => a.bytes_out - b.bytes_out },
];

const open = (bucket: string, key: string) => navigate(hashOf('ranges', [bucket, key]));

interface Wanted {
  bucket: string;
  key: string;
}

// Names an object, also one that is not in the list; the list shows those whose names contain the texts.
function ObjectForm(props: { wanted: Wanted; onChange: (wanted: Wanted) => void }) {
  const { bucket, key } = props.wanted;
  return (
    <form
      class="toolbar other-object"
      onSubmit={(event) => {
        event.preventDefault();
        if (bucket && key) open(bucket, key);
      }}
    >
      <Field label="Bucket">
        {(attributes) => <input {...attributes} spellcheck={false} autocomplete="off" value={bucket} onInput={(event) => props.onChange({ bucket: event.currentTarget.value, key })} />}
      </Field>
      <Field label="Key">
        {(attributes) => <input {...attributes} spellcheck={false} autocomplete="off" value={key} onInput={(event) => props.onChange({ bucket, key: event.currentTarget.value })} />}
      </Field>
      <button type="submit" class="button" disabled={!bucket || !key}>
        Show its reads
      </button>
    </form>
  );
}

export function ObjectPicker(props: { namespace: string }) {
  const last = useStore(live).latest?.namespace.journal?.last ?? 0;
  const loading = useLoading((signal) => ask<Answer>(props.namespace, { question: 'objects', filter: successfulReads }, signal), [props.namespace]);
  const { value, problem, busy, reload } = loading;
  const shown = useRef(last);
  const [wanted, setWanted] = useState<Wanted>({ bucket: '', key: '' });
  const filtered = wanted.bucket !== '' || wanted.key !== '';
  const rows = (value?.objects ?? []).filter(({ bucket, key }) => bucket.includes(wanted.bucket) && key.includes(wanted.key));
  useEffect(() => {
    if (busy || shown.current === last) return;
    shown.current = last;
    reload();
  }, [last, busy]);
  return (
    <>
      <div class="view-head">
        <h1>Ranges</h1>
      </div>
      <p class="muted">The bytes of an object that clients read, by connection, address, access key, user agent or rank. The list counts successful GetObject requests, and the bytes of their bodies.</p>
      <ObjectForm wanted={wanted} onChange={setWanted} />
      {problem && <Alert kind="error">{problem}</Alert>}
      <Panel title="Objects that were read" flush class="picker">
        <Grid
          label="Objects that were read"
          columns={columns}
          rows={rows}
          rowKey={({ bucket, key }) => `${bucket}/${key}`}
          sort={{ column: 'reads', descending: true }}
          onOpen={({ bucket, key }) => open(bucket, key)}
          empty={busy ? 'Loading …' : filtered ? 'No object in this list has these names.' : 'The journal has no successful read of an object.'}
        />
      </Panel>
      {value && value.objects_dropped > 0 && <p class="muted">{plural(value.objects_dropped, 'object', 'objects')} with fewer reads are not shown.</p>}
    </>
  );
}
