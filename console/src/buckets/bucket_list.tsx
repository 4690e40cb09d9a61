import { useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { Alert, Check, Field, Panel } from '../components/basic.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { count, dateTime } from '../lib/format.ts';
import { useLoading } from '../lib/loading.ts';
import { navigate } from '../router.ts';
import { createBucket, listBuckets, type Bucket } from '../s3.ts';
import { bucketHash } from './address.ts';

const byText = (of: (bucket: Bucket) => string) => (a: Bucket, b: Bucket) => (of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0);

const columns: Column<Bucket>[] = [
  { id: 'name', title: 'Name', width: 'minmax(160px, 2fr)', cell: (bucket) => <Name text={bucket.name} />, compare: byText(({ name }) => name) },
  { id: 'created', title: 'Created', width: '170px', cell: (bucket) => dateTime(bucket.created), compare: byText(({ created }) => created) },
  { id: 'region', title: 'Region', width: '120px', wideOnly: true, cell: (bucket) => bucket.region },
];

function CreateDialog(props: { namespace: string; onClose: () => void; onCreated: (name: string) => void }) {
  const [name, setName] = useState('');
  const [versioned, setVersioned] = useState(false);
  const [objectLock, setObjectLock] = useState(false);
  const [problem, setProblem] = useState('');
  const [busy, setBusy] = useState(false);
  const create = async () => {
    setBusy(true);
    try {
      await createBucket(props.namespace, { name, versioned, objectLock });
      props.onCreated(name);
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Create a bucket" onClose={props.onClose}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== '') void create();
        }}
      >
        <Field label="Name" hint="3 to 63 lower-case letters, digits, dots and hyphens" error={problem || undefined}>
          {(attributes) => (
            <input {...attributes} autocomplete="off" spellcheck={false} value={name} onInput={(event) => setName(event.currentTarget.value)} />
          )}
        </Field>
        <div>
          <Check label="Versioning" checked={versioned || objectLock} disabled={objectLock} onChange={setVersioned} />
          <br />
          <Check label="Object Lock, with versioning" checked={objectLock} onChange={setObjectLock} />
        </div>
        <div class="form-actions">
          <button type="submit" class="button primary" disabled={busy || name === ''}>
            Create
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function BucketList(props: { namespace: string }) {
  const { value, problem, busy, reload } = useLoading(() => listBuckets(props.namespace), [props.namespace]);
  const [creating, setCreating] = useState(false);
  const [filter, setFilter] = useState('');
  const rows = (value ?? []).filter(({ name }) => name.includes(filter));
  return (
    <>
      <div class="view-head">
        <h1>Buckets</h1>
        <button type="button" class="button" onClick={reload}>
          Refresh
        </button>
        <button type="button" class="button primary" onClick={() => setCreating(true)}>
          Create a bucket
        </button>
      </div>
      {problem && <Alert kind="error">{problem}</Alert>}
      <Panel
        title={value ? `${count(rows.length)} of ${count(value.length)}` : 'Buckets'}
        flush
        class="fill"
        actions={
          <input
            class="input search"
            type="search"
            aria-label="Names that contain"
            placeholder="Names that contain …"
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        }
      >
        <Grid
          label="Buckets"
          columns={columns}
          rows={rows}
          rowKey={({ name }) => name}
          onOpen={({ name }) => navigate(bucketHash(name))}
          empty={busy ? 'Loading …' : filter ? 'No bucket has this name.' : 'This namespace has no buckets.'}
        />
      </Panel>
      {creating && (
        <CreateDialog
          namespace={props.namespace}
          onClose={() => setCreating(false)}
          onCreated={(name) => {
            setCreating(false);
            navigate(bucketHash(name));
          }}
        />
      )}
    </>
  );
}
