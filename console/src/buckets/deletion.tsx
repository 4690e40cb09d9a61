// Deletes objects, versions and everything below prefixes, after a question.
import { useRef, useState } from 'preact/hooks';
import { isAbort, messageOf } from '../api.ts';
import { Alert } from '../components/basic.tsx';
import { Confirmation } from '../components/dialog.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { count, plural } from '../lib/format.ts';
import { allRows, deleteObjects, type Doomed, type Refusal } from '../s3.ts';

export interface Deletion {
  objects: readonly Doomed[];
  prefixes: readonly string[]; // With all objects below.
  versions: boolean; // All versions and delete markers below the prefixes.
}

const batchSize = 1_000;

async function* batchesOf(namespace: string, bucket: string, deletion: Deletion, signal: AbortSignal): AsyncGenerator<Doomed[]> {
  for (let i = 0; i < deletion.objects.length; i += batchSize) yield deletion.objects.slice(i, i + batchSize);
  for (const prefix of deletion.prefixes) {
    const options = { prefix, delimiter: '', versions: deletion.versions };
    for await (const rows of allRows(namespace, bucket, options, signal)) yield rows;
  }
}

export async function deleteAll(
  namespace: string,
  bucket: string,
  deletion: Deletion,
  signal: AbortSignal,
  onProgress: (done: number) => void,
): Promise<{ done: number; refusals: Refusal[] }> {
  let done = 0;
  const refusals: Refusal[] = [];
  for await (const batch of batchesOf(namespace, bucket, deletion, signal)) {
    signal.throwIfAborted();
    const refused = await deleteObjects(namespace, bucket, batch);
    done += batch.length - refused.length;
    refusals.push(...refused);
    onProgress(done);
    if (refusals.length >= batchSize) break; // All that follow would probably be refused too.
  }
  return { done, refusals };
}

function whatOf({ objects, prefixes }: Deletion): string {
  const parts: string[] = [];
  if (objects.length > 0) parts.push(plural(objects.length, 'object', 'objects'));
  if (prefixes.length > 0) parts.push(`everything below ${plural(prefixes.length, 'prefix', 'prefixes')}`);
  return parts.join(' and ');
}

export function DeletionDialog(props: {
  namespace: string;
  bucket: string;
  deletion: Deletion;
  versioned: boolean;
  onClose: (changed: boolean) => void;
}) {
  const { deletion } = props;
  const controller = useRef(new AbortController());
  const [done, setDone] = useState<number | null>(null);
  const [refusals, setRefusals] = useState<Refusal[]>([]);
  const [problem, setProblem] = useState('');
  const what = whatOf(deletion);
  const close = () => {
    controller.current.abort();
    props.onClose(done !== null);
  };
  const start = async () => {
    setDone(0);
    try {
      const result = await deleteAll(props.namespace, props.bucket, deletion, controller.current.signal, setDone);
      if (result.refusals.length > 0) setRefusals(result.refusals);
      else {
        notify('info', `${plural(result.done, 'object', 'objects')} deleted.`);
        props.onClose(true);
      }
    } catch (error) {
      if (!isAbort(error)) setProblem(messageOf(error));
    }
  };
  return (
    <Confirmation title={`Delete ${what}?`} action={`Delete ${what}`} busy={done !== null} onConfirm={() => void start()} onClose={close}>
      <ul class="wrap-anywhere">
        {[...deletion.prefixes, ...deletion.objects.map(({ key }) => key)].slice(0, 8).map((key, i) => (
          <li key={i}>
            <Name text={key} empty="(the whole bucket)" />
          </li>
        ))}
        {deletion.prefixes.length + deletion.objects.length > 8 && <li>…</li>}
      </ul>
      <p class="muted">
        {deletion.versions || deletion.objects.some(({ version }) => version !== undefined)
          ? 'Versions are removed for good. Removing the latest delete marker makes the version before it current again.'
          : props.versioned
            ? 'The bucket keeps versions: the objects get delete markers.'
            : 'This cannot be undone.'}
      </p>
      {done !== null && <p>{count(done)} deleted{refusals.length === 0 && !problem ? ' …' : '.'}</p>}
      {problem && <Alert kind="error">{problem}</Alert>}
      {refusals.length > 0 && (
        <Alert kind="error">
          {plural(refusals.length, 'object was', 'objects were')} not deleted.
          <ul class="wrap-anywhere">
            {refusals.slice(0, 8).map(({ key, message }, i) => (
              <li key={i}>
                <Name text={key} />: {message}
              </li>
            ))}
          </ul>
        </Alert>
      )}
    </Confirmation>
  );
}
