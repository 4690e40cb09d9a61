// One bucket: its objects, configuration and unfinished uploads.
import { useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api.ts';
import { Alert, Badge, Check } from '../components/basic.tsx';
import { Confirmation } from '../components/dialog.tsx';
import { lazy } from '../components/lazy.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { plural } from '../lib/format.ts';
import { useLoading } from '../lib/loading.ts';
import { useStore } from '../lib/store.ts';
import { parseXml, textAt } from '../lib/xml.ts';
import { hashOf, navigate, route } from '../router.ts';
import { deleteBucket, getDocument } from '../s3.ts';
import { bucketHash } from './address.ts';
import { deleteAll } from './deletion.tsx';
import { Objects } from './objects.tsx';
import { OpenUploads } from './open_uploads.tsx';

const Configuration = lazy(() => import('./configuration.tsx'));

const tabs = [
  ['', 'Objects'],
  ['configuration', 'Configuration'],
  ['uploads', 'Uploads'],
] as const;

function DeleteBucket(props: { namespace: string; bucket: string; onClose: () => void }) {
  const { namespace, bucket } = props;
  const [withObjects, setWithObjects] = useState(false);
  const [busy, setBusy] = useState(false);
  const [done, setDone] = useState(0);
  const [problem, setProblem] = useState('');
  const [controller] = useState(() => new AbortController());
  const close = () => {
    controller.abort();
    props.onClose();
  };
  const remove = async () => {
    setBusy(true);
    setProblem('');
    try {
      if (withObjects) {
        const everything = { objects: [], prefixes: [''], versions: true };
        const { refusals } = await deleteAll(namespace, bucket, everything, controller.signal, setDone);
        if (refusals.length > 0) throw new Error(`${plural(refusals.length, 'version was', 'versions were')} not deleted: ${refusals[0]!.message}`);
      }
      await deleteBucket(namespace, bucket);
      notify('info', `The bucket ${bucket} was deleted.`);
      navigate(hashOf('buckets'));
    } catch (error) {
      setProblem(messageOf(error));
      setBusy(false);
    }
  };
  return (
    <Confirmation title={`Delete the bucket ${bucket}?`} action={`Delete ${bucket}`} busy={busy} onConfirm={() => void remove()} onClose={close}>
      <p>This cannot be undone. S3 deletes empty buckets only.</p>
      <Check label="Delete all objects and versions first" checked={withObjects} disabled={busy} onChange={setWithObjects} />
      {busy && withObjects && <p>{plural(done, 'version', 'versions')} deleted …</p>}
      {problem && <Alert kind="error">{problem}</Alert>}
    </Confirmation>
  );
}

interface State {
  exists: boolean;
  versioning: string; // '': never enabled.
}

async function stateOf(namespace: string, bucket: string): Promise<State> {
  try {
    const document = await getDocument(namespace, bucket, 'versioning');
    return { exists: true, versioning: document ? textAt(parseXml(document), 'Status') : '' };
  } catch (error) {
    if (error instanceof ApiError && error.code === 'NoSuchBucket') return { exists: false, versioning: '' };
    throw error;
  }
}

function MissingBucket(props: { namespace: string; bucket: string }) {
  return (
    <>
      <div class="view-head">
        <h1>
          <a href={hashOf('buckets')}>Buckets</a> / <Name text={props.bucket} />
        </h1>
      </div>
      <Alert kind="info">
        The namespace “{props.namespace}” has no bucket <Name text={props.bucket} />. It was deleted, or it is in another namespace.
      </Alert>
    </>
  );
}

export function BucketPage(props: { namespace: string; bucket: string }) {
  const { namespace, bucket } = props;
  const { params } = useStore(route);
  const tab = params.get('tab') ?? '';
  const [deleting, setDeleting] = useState(false);
  const { value: state, problem, reload } = useLoading(() => stateOf(namespace, bucket), [namespace, bucket]);
  if (state?.exists === false) return <MissingBucket namespace={namespace} bucket={bucket} />;
  return (
    <>
      <div class="view-head">
        <h1>
          <a href={hashOf('buckets')}>Buckets</a> / <Name text={bucket} />
        </h1>
        {state?.versioning && <Badge>versioning {state.versioning.toLowerCase()}</Badge>}
        <div class="toolbar" role="group" aria-label="What to show">
          {tabs.map(([name, title]) => (
            <a key={name} class="button" href={bucketHash(bucket, { tab: name })} aria-current={name === tab ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </div>
        <button type="button" class="button danger" disabled={!state} onClick={() => setDeleting(true)}>
          Delete the bucket
        </button>
      </div>
      {problem ? (
        <Alert kind="error">{problem}</Alert>
      ) : tab === 'configuration' ? (
        <Configuration namespace={namespace} bucket={bucket} onChange={reload} />
      ) : tab === 'uploads' ? (
        <OpenUploads namespace={namespace} bucket={bucket} />
      ) : (
        <Objects namespace={namespace} bucket={bucket} versioned={!!state?.versioning} />
      )}
      {deleting && <DeleteBucket namespace={namespace} bucket={bucket} onClose={() => setDeleting(false)} />}
    </>
  );
}
