// One object or version: its metadata, preview, versions, and a presigned link.
import { useEffect, useState } from 'preact/hooks';
import { apiUrl, download, messageOf, session } from '../api.ts';
import { Alert, Badge, CopyButton, Field, Members, Panel, SimpleTable } from '../components/basic.tsx';
import { lazy } from '../components/lazy.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { bytes, count, dateTime, plural } from '../lib/format.ts';
import { fileNameOf } from '../lib/keys.ts';
import { useLoading } from '../lib/loading.ts';
import { replaceParams } from '../router.ts';
import { getTags, headObject, listPage, presign, targetOf, type Address, type ObjectHead, type Page, type Presigned, type Query, type Row } from '../s3.ts';
import { rangesHash, shownObject } from './address.ts';
import type { Deletion } from './deletion.tsx';

const Preview = lazy(() => import('./preview.tsx'));

// Without a token a link suffices, and the browser writes to the disk as the bytes arrive.
export async function saveObject(address: Address): Promise<void> {
  try {
    if (session.value.token) return await download(targetOf(address), {}, fileNameOf(address.key));
    const link = document.createElement('a');
    link.href = apiUrl(targetOf(address));
    link.download = fileNameOf(address.key);
    link.click();
  } catch (error) {
    notify('error', `The download failed: ${messageOf(error)}`);
  }
}

const shownElsewhere = new Set([
  'accept-ranges', 'cache-control', 'connection', 'content-disposition', 'content-length', 'content-security-policy', 'content-type',
  'cross-origin-opener-policy', 'cross-origin-resource-policy', 'date', 'etag', 'keep-alive', 'last-modified', 'referrer-policy', 'server',
  'x-amz-id-2', 'x-amz-object-lock-legal-hold', 'x-amz-object-lock-mode', 'x-amz-object-lock-retain-until-date', 'x-amz-request-id',
  'x-amz-storage-class', 'x-amz-tagging-count', 'x-amz-version-id', 'x-content-type-options', 'x-frame-options',
]);

function Pairs(props: { title: string; pairs: readonly (readonly [string, string])[] }) {
  if (props.pairs.length === 0) return null;
  return (
    <>
      <h3>{props.title}</h3>
      <Members items={props.pairs.map(([name, value]) => [name, <Name text={value} />] as const)} />
    </>
  );
}

function Details(props: { address: Address; head: ObjectHead }) {
  const { address, head } = props;
  const header = (name: string) => head.headers.find(([one]) => one === name)?.[1] ?? '';
  const tagged = header('x-amz-tagging-count') !== '';
  const tags = useLoading(async () => (tagged ? getTags(address) : []), [address.namespace, address.bucket, address.key, address.version, tagged]);
  const mode = header('x-amz-object-lock-mode');
  const startingWith = (start: string) => head.headers.filter(([name]) => name.startsWith(start)).map(([name, value]) => [name.slice(start.length), value] as const);
  const checksums = startingWith('x-amz-checksum-').map(([name, value]) => [name.toUpperCase(), value] as const);
  const others = head.headers.filter(([name]) => !shownElsewhere.has(name) && !name.startsWith('x-amz-meta-') && !name.startsWith('x-amz-checksum-'));
  return (
    <div class="details">
      <Members
        items={[
          ['Key', <Name text={address.key} />],
          ['Size', head.size < 1024 ? bytes(head.size) : `${bytes(head.size)} (${count(head.size)} B)`],
          ['Last modified', header('last-modified')],
          ['Content type', header('content-type') && <Name text={header('content-type')} />],
          ['Storage class', header('x-amz-storage-class') || 'STANDARD'],
          ['ETag', header('etag')],
          ['Version', header('x-amz-version-id')],
          ['Legal hold', header('x-amz-object-lock-legal-hold')],
          ['Retention', mode && `${mode} until ${dateTime(header('x-amz-object-lock-retain-until-date'))}`],
        ]}
      />
      <Pairs title="Checksums" pairs={checksums} />
      <Pairs title="Metadata" pairs={startingWith('x-amz-meta-')} />
      {tags.value && <Pairs title="Tags" pairs={tags.value} />}
      <Pairs title="Other headers" pairs={others} />
      {tags.problem && <Alert kind="warning">{tags.problem}</Alert>}
    </div>
  );
}

interface VersionPages {
  rows: readonly Row[];
  next: Query | null; // Of the versions that are not loaded.
}

// One page, or with `all` the rest. Keys below the prefix follow those of the key itself.
async function versionsOf({ namespace, bucket, key }: Address, known: VersionPages, all: boolean, signal: AbortSignal): Promise<VersionPages> {
  const rows = [...known.rows];
  let { next } = known;
  while (next) {
    const page: Page = await listPage(namespace, bucket, { prefix: key, delimiter: '', versions: true }, next, signal);
    for (const row of page.rows) if (row.key === key) rows.push(row);
    next = page.rows.at(-1)?.key === key ? page.next : null;
    if (!all) break;
  }
  return { rows, next };
}

// Those of the first page, and a button for the rest.
function Versions(props: { address: Address }) {
  const { address } = props;
  const identity = [address.namespace, address.bucket, address.key];
  const [all, setAll] = useState(false);
  const first = useLoading((signal) => versionsOf(address, { rows: [], next: {} }, false, signal), identity);
  const rest = useLoading(async (signal) => (all && first.value ? versionsOf(address, first.value, true, signal) : null), [...identity, all, first.value]);
  const value = rest.value ?? first.value;
  const problem = first.problem || rest.problem;
  if (!value) return problem ? <Alert kind="error">{problem}</Alert> : <p class="muted">Loading …</p>;
  const show = (row: Row) => replaceParams({ versions: '1', ...shownObject(row) });
  return (
    <>
      <SimpleTable
        label="Versions"
        rows={value.rows}
        rowKey={(row) => row.version ?? ''}
        columns={[
          {
            title: 'Version',
            cell: (row) => (
              <button type="button" class="button small plain" aria-pressed={row.version === address.version} onClick={() => show(row)}>
                {row.version}
              </button>
            ),
          },
          {
            title: 'State',
            cell: (row) => (
              <>
                {row.kind === 'delete marker' && <Badge tone="warning">delete marker</Badge>} {row.latest && <Badge tone="accent">latest</Badge>}
              </>
            ),
          },
          { title: 'Size', end: true, cell: (row) => (row.kind === 'object' ? bytes(row.size) : '') },
          { title: 'Last modified', cell: (row) => dateTime(row.modified) },
        ]}
      />
      {value.next && (
        <div class="toolbar">
          <span class="muted">The newest {plural(value.rows.length, 'version', 'versions')}; there are more.</span>
          <button type="button" class="button small" disabled={all && rest.busy} onClick={() => (all ? rest.reload() : setAll(true))}>
            Load the rest
          </button>
        </div>
      )}
      {problem && <Alert kind="error">{problem}</Alert>}
    </>
  );
}

const expiries: readonly (readonly [number, string])[] = [
  [900, '15 minutes'],
  [3_600, '1 hour'],
  [86_400, '1 day'],
  [604_800, '7 days'],
];

function PresignForm(props: { address: Address }) {
  const { address } = props;
  const methods = address.version === undefined ? ['GET', 'HEAD', 'PUT', 'DELETE'] : ['GET', 'HEAD', 'DELETE'];
  const [method, setMethod] = useState('GET');
  const [expires, setExpires] = useState(3_600);
  const [link, setLink] = useState<Presigned | null>(null);
  const [problem, setProblem] = useState('');
  useEffect(() => setLink(null), [method, expires]);
  const make = async () => {
    try {
      setProblem('');
      setLink(await presign(address, method, expires));
    } catch (error) {
      setProblem(messageOf(error));
    }
  };
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <div class="toolbar presign">
        <Field label="Method">
          {(attributes) => (
            <select {...attributes} value={method} onChange={(event) => setMethod(event.currentTarget.value)}>
              {methods.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
        <Field label="Valid for">
          {(attributes) => (
            <select {...attributes} value={expires} onChange={(event) => setExpires(Number(event.currentTarget.value))}>
              {expiries.map(([seconds, text]) => (
                <option key={seconds} value={seconds}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <button type="submit" class="button primary">
          Make a link
        </button>
      </div>
      {problem && <Alert kind="error">{problem}</Alert>}
      {link && (
        <>
          <textarea class="input" rows={4} readOnly aria-label="Presigned link" value={link.url} />
          <div class="toolbar">
            <CopyButton text={() => link.url} label="Copy" />
            <span class="muted">valid until {dateTime(link.expires)}</span>
          </div>
        </>
      )}
    </form>
  );
}

const tabs = ['Details', 'Preview', 'Versions', 'Link'] as const;
type Tab = (typeof tabs)[number];
let lastTab: Tab = 'Details'; // The next object is shown in the same way.

function Content(props: { address: Address; tab: Tab }) {
  const { address, tab } = props;
  const { value: head, problem } = useLoading((signal) => headObject(address, signal), [address.namespace, address.bucket, address.key, address.version]);
  if (tab === 'Versions') return <Versions address={address} />;
  if (tab === 'Link') return <PresignForm address={address} />;
  if (problem) return <Alert kind="error">{problem}</Alert>;
  if (!head) return <p class="muted">Loading …</p>;
  return tab === 'Details' ? <Details address={address} head={head} /> : <Preview address={address} head={head} />;
}

export function ObjectPanel(props: { address: Address; deleteMarker: boolean; onClose: () => void; onDelete: (deletion: Deletion) => void }) {
  const { address, deleteMarker } = props;
  const [tab, setTab] = useState<Tab>(lastTab);
  const { key, version } = address;
  return (
    <Panel
      title={version === undefined ? 'Object' : 'Version'}
      class="object-panel"
      actions={
        <button type="button" class="button small" onClick={props.onClose}>
          Close
        </button>
      }
    >
      <div class="form">
        <p class="object-name wrap-anywhere">
          <Name text={key} />
        </p>
        <div class="toolbar">
          {!deleteMarker && (
            <>
              <button type="button" class="button small" onClick={() => void saveObject(address)}>
                Download
              </button>
              <a class="button small" href={rangesHash(address.bucket, key)}>
                Reads
              </a>
            </>
          )}
          <button type="button" class="button small danger" onClick={() => props.onDelete({ objects: [{ key, version }], prefixes: [], versions: false })}>
            {deleteMarker ? 'Delete the marker' : 'Delete'}
          </button>
        </div>
        {deleteMarker ? (
          <Alert kind="info">This is a delete marker: it hides the versions before it, and has no data.</Alert>
        ) : (
          <>
            <div class="toolbar" role="group" aria-label="What to show">
              {tabs.map((name) => (
                <button
                  key={name}
                  type="button"
                  class="button small plain"
                  aria-pressed={name === tab}
                  onClick={() => {
                    lastTab = name;
                    setTab(name);
                  }}
                >
                  {name}
                </button>
              ))}
            </div>
            <Content address={address} tab={tab} />
          </>
        )}
      </div>
    </Panel>
  );
}
