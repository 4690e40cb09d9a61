// The objects of a bucket: prefixes, versions, search, selection, uploads.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { Alert, Badge, Check, Panel } from '../components/basic.tsx';
import { Grid, useDelayed, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { bytes, count, dateTime } from '../lib/format.ts';
import { prefixesOf, visibleText } from '../lib/keys.ts';
import { useStore } from '../lib/store.ts';
import { navigate, replaceParams, route } from '../router.ts';
import type { Row } from '../s3.ts';
import { startUploads } from '../uploads.ts';
import { bucketHash, noObject, shownObject, type BucketState } from './address.ts';
import { DeletionDialog, type Deletion } from './deletion.tsx';
import { Listing } from './listing.ts';
import { ObjectPanel, saveObject } from './object_panel.tsx';
import { droppedFiles, UploadsPanel, type Dropped } from './uploads_panel.tsx';

const delimiter = '/';
const loadAhead = 500; // Rows below the visible ones.

const idOf = (row: Row) => `${row.kind === 'prefix' ? 'p' : 'o'}${row.version ?? ''} ${row.key}`;

function Breadcrumbs(props: { bucket: string; prefix: string; state: BucketState }) {
  const kept = { flat: props.state.flat, versions: props.state.versions };
  const all = prefixesOf(props.prefix, delimiter);
  return (
    <nav aria-label="Prefix" class="breadcrumbs wrap-anywhere">
      <a href={bucketHash(props.bucket, kept)}>{props.bucket}</a>
      {all.map((prefix, i) => (
        <a key={prefix} href={bucketHash(props.bucket, { ...kept, prefix })} aria-current={i === all.length - 1 ? 'location' : undefined}>
          <Name text={prefix.slice(i === 0 ? 0 : all[i - 1]!.length)} />
        </a>
      ))}
    </nav>
  );
}

function columnsOf(prefix: string, versions: boolean, selection: ReadonlyMap<string, Row>, toggle: (row: Row) => void): Column<Row>[] {
  const columns: Column<Row>[] = [
    {
      id: 'selected',
      title: '✓',
      width: '34px',
      cell: (row) => (
        <input
          type="checkbox"
          tabIndex={-1} // The space bar does the same.
          aria-label={`Choose ${visibleText(row.key)}`}
          checked={selection.has(idOf(row))}
          onClick={(event) => event.stopPropagation()}
          onChange={() => toggle(row)}
        />
      ),
    },
    {
      id: 'name',
      title: 'Name',
      width: 'minmax(140px, 3fr)',
      cell: (row) => (
        <span class={row.kind === 'prefix' ? 'prefix' : ''}>
          <Name text={row.key.slice(prefix.length)} empty="(the prefix itself)" />
        </span>
      ),
    },
    { id: 'size', title: 'Size', width: '84px', end: true, cell: (row) => (row.kind === 'object' ? bytes(row.size) : '') },
    { id: 'modified', title: 'Last modified', width: '186px', wideOnly: true, cell: (row) => dateTime(row.modified) },
  ];
  if (versions) {
    columns.push({
      id: 'version',
      title: 'Version',
      width: 'minmax(110px, 1.6fr)',
      cell: (row) => (
        <>
          {row.kind === 'delete marker' && <Badge tone="warning">delete marker</Badge>} {row.latest && <Badge tone="accent">latest</Badge>} {row.version}
        </>
      ),
    });
  } else {
    columns.push({ id: 'class', title: 'Class', width: '120px', wideOnly: true, cell: (row) => row.storageClass });
  }
  return columns;
}

function stateOf(params: ReadonlyMap<string, string>): BucketState {
  return Object.fromEntries(params) as BucketState;
}

function Toolbar(props: {
  state: BucketState;
  search: string;
  chosen: number;
  onSearch: (text: string) => void;
  onUpload: (files: Dropped[]) => void;
  onDownload: () => void;
  onDelete: () => void;
  onRefresh: () => void;
}) {
  const picker = useRef<HTMLInputElement>(null);
  const { state } = props;
  return (
    <div class="toolbar">
      <input
        class="input search"
        type="search"
        aria-label="Search by prefix"
        placeholder="Keys that start with …"
        spellcheck={false}
        value={props.search}
        onInput={(event) => props.onSearch(event.currentTarget.value)}
      />
      <Check label="Folders" checked={state.flat !== '1'} onChange={(folders) => replaceParams({ flat: folders ? '' : '1' })} />
      <Check label="Versions" checked={state.versions === '1'} onChange={(versions) => replaceParams({ versions: versions ? '1' : '', ...noObject })} />
      <span class="toolbar-gap" />
      {props.chosen > 0 && (
        <>
          <span class="muted" role="status">
            {count(props.chosen)} chosen
          </span>
          <button type="button" class="button" onClick={props.onDownload}>
            Download
          </button>
          <button type="button" class="button danger" onClick={props.onDelete}>
            Delete
          </button>
        </>
      )}
      <button type="button" class="button" onClick={props.onRefresh}>
        Refresh
      </button>
      <button type="button" class="button primary" onClick={() => picker.current!.click()}>
        Upload
      </button>
      <input
        ref={picker}
        type="file"
        multiple
        hidden
        aria-label="Files to upload"
        onChange={(event) => {
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = ''; // The same file can be chosen again.
          props.onUpload(files.map((file) => ({ file, path: file.name })));
        }}
      />
    </div>
  );
}

function Status(props: { listing: Listing }) {
  const { rows, complete, loading, all } = useStore(props.listing.state);
  return (
    <div class="toolbar">
      <span class="muted" role="status" aria-live={loading ? 'off' : 'polite'}>
        {count(rows.length)} {complete ? 'in total' : loading ? 'loaded …' : 'loaded; more follow'}
      </span>
      {!complete && rows.length > 0 && (
        <button type="button" class="button small" onClick={() => (all ? props.listing.pause() : props.listing.loadAll())}>
          {all ? 'Stop' : 'Load all'}
        </button>
      )}
    </div>
  );
}

// A new listing for each set of options, or `version`.
function useListing(namespace: string, bucket: string, state: BucketState, version: number): Listing {
  const prefix = (state.prefix ?? '') + (state.search ?? '');
  const listing = useMemo(
    () => new Listing(namespace, bucket, { prefix, delimiter: state.flat === '1' ? '' : delimiter, versions: state.versions === '1' }),
    [namespace, bucket, prefix, state.flat, state.versions, version],
  );
  useEffect(() => {
    listing.more();
    return () => listing.close();
  }, [listing]);
  return listing;
}

// Uploads to the prefix, and calls `onDone` when all have ended.
async function upload(namespace: string, bucket: string, prefix: string, files: readonly Dropped[], onDone: () => void): Promise<void> {
  await startUploads(files.map(({ file, path }) => ({ file, address: { namespace, bucket, key: prefix + path } })));
  onDone();
}

function useDrop(onFiles: (files: Dropped[]) => void) {
  const [over, setOver] = useState(false);
  const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
  return {
    over,
    onDragOver: (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: (event: DragEvent) => {
      if (!(event.currentTarget as Element).contains(event.relatedTarget as Node | null)) setOver(false);
    },
    onDrop: (event: DragEvent) => {
      if (!isFiles(event)) return;
      event.preventDefault();
      setOver(false);
      droppedFiles(event.dataTransfer!).then(onFiles, (error: unknown) => notify('error', `The files could not be read: ${messageOf(error)}`));
    },
  };
}

// The rows that the user chose, of this listing.
function useSelection(listing: Listing) {
  const [selection, setSelection] = useState<ReadonlyMap<string, Row>>(new Map());
  useEffect(() => setSelection(new Map()), [listing]);
  const toggle = (row: Row) =>
    setSelection((old) => {
      const next = new Map(old);
      if (!next.delete(idOf(row))) next.set(idOf(row), row);
      return next;
    });
  return { selection, toggle };
}

// The text of the search field. The address, and with it the listing, follows when the user stops typing.
function useSearch(state: BucketState) {
  const [search, setSearch] = useState(state.search ?? '');
  const settled = useDelayed(search, 250);
  const sent = useRef(search);
  useEffect(() => {
    if ((state.search ?? '') !== sent.current) setSearch(state.search ?? ''); // Changed by a link, or the Back button.
    sent.current = state.search ?? '';
  }, [state.prefix, state.search]);
  useEffect(() => {
    if (settled !== search || settled === sent.current) return;
    sent.current = settled;
    replaceParams({ search: settled });
  }, [settled]);
  return { search, setSearch };
}

function deletionOf(rows: readonly Row[], versions: boolean): Deletion {
  return {
    objects: rows.filter(({ kind }) => kind !== 'prefix').map(({ key, version }) => ({ key, version })),
    prefixes: rows.filter(({ kind }) => kind === 'prefix').map(({ key }) => key),
    versions,
  };
}

function save(namespace: string, bucket: string, rows: readonly Row[]): void {
  const objects = rows.filter(({ kind }) => kind === 'object');
  if (objects.length < rows.length) notify('info', 'Prefixes and delete markers are not downloaded.');
  for (const { key, version } of objects) void saveObject({ namespace, bucket, key, version });
}

interface TableProps {
  bucket: string;
  state: BucketState;
  listing: Listing;
  selection: ReadonlyMap<string, Row>;
  onToggle: (row: Row) => void;
  onFiles: (files: Dropped[]) => void;
}

function ObjectTable(props: TableProps) {
  const { bucket, state, listing, selection } = props;
  const { rows, complete, loading } = useStore(listing.state);
  const drop = useDrop(props.onFiles);
  const prefix = state.prefix ?? '';
  const versions = state.versions === '1';
  const columns = useMemo(() => columnsOf(prefix, versions, selection, props.onToggle), [prefix, versions, selection]);
  const open = (row: Row) => {
    if (row.kind === 'prefix') navigate(bucketHash(bucket, { flat: state.flat, versions: state.versions, prefix: row.key }));
    else replaceParams(shownObject(row));
  };
  return (
    <div class={`drop-zone ${drop.over ? 'over' : ''}`} onDragOver={drop.onDragOver} onDragLeave={drop.onDragLeave} onDrop={drop.onDrop}>
      <Panel title={`Objects of ${bucket}`} flush class="fill objects-list" actions={<Status listing={listing} />}>
        <Breadcrumbs bucket={bucket} prefix={prefix} state={state} />
        <Grid
          key={numberOf(listing)}
          label={`Objects of ${bucket}`}
          columns={columns}
          rows={rows}
          rowKey={idOf}
          onOpen={open}
          onToggle={props.onToggle}
          onVisible={(end) => {
            if (end + loadAhead >= rows.length) listing.more();
          }}
          selected={state.key === undefined ? null : `o${state.version ?? ''} ${state.key}`}
          empty={loading || !complete ? 'Loading …' : 'No objects. Drop files here to upload them.'}
        />
      </Panel>
    </div>
  );
}

export function Objects(props: { namespace: string; bucket: string; versioned: boolean }) {
  const { namespace, bucket, versioned } = props;
  const { params } = useStore(route);
  const state = useMemo(() => stateOf(params), [params]);
  const [version, setVersion] = useState(0);
  const refresh = () => setVersion((old) => old + 1);
  const listing = useListing(namespace, bucket, state, version);
  const { problem } = useStore(listing.state);
  const { selection, toggle } = useSelection(listing);
  const { search, setSearch } = useSearch(state);
  const [deletion, setDeletion] = useState<Deletion | null>(null);
  const chosen = [...selection.values()];
  const { key } = state;
  const startFiles = (files: Dropped[]) => void upload(namespace, bucket, state.prefix ?? '', files, refresh);
  const endDeletion = (changed: boolean) => {
    setDeletion(null);
    if (!changed) return;
    if (deletion?.objects.some((one) => one.key === key)) replaceParams(noObject);
    refresh();
  };
  return (
    <>
      <Toolbar
        state={state}
        search={search}
        chosen={chosen.length}
        onSearch={setSearch}
        onUpload={startFiles}
        onDownload={() => save(namespace, bucket, chosen)}
        onDelete={() => setDeletion(deletionOf(chosen, state.versions === '1'))}
        onRefresh={refresh}
      />
      {problem && (
        <Alert kind="error" action={<button type="button" class="button small" onClick={refresh}>Try again</button>}>
          {problem}
        </Alert>
      )}
      <UploadsPanel />
      <div class={`objects ${key === undefined ? '' : 'split'}`}>
        <ObjectTable bucket={bucket} state={state} listing={listing} selection={selection} onToggle={toggle} onFiles={startFiles} />
        {key !== undefined && (
          <ObjectPanel
            key={`${key} ${state.version ?? ''}`}
            address={{ namespace, bucket, key, version: state.version }}
            deleteMarker={state.marker === '1'}
            onClose={() => replaceParams(noObject)}
            onDelete={setDeletion}
          />
        )}
      </div>
      {deletion && <DeletionDialog namespace={namespace} bucket={bucket} deletion={deletion} versioned={versioned} onClose={endDeletion} />}
    </>
  );
}

// A number for each listing, so that its table starts at the top.
const numbers = new WeakMap<Listing, number>();
let lastNumber = 0;
function numberOf(listing: Listing): number {
  if (!numbers.has(listing)) numbers.set(listing, ++lastNumber);
  return numbers.get(listing)!;
}
