// The journal while it grows, with filters, and one request in full.
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { download, getJson, inNamespace, isAbort, messageOf, sendJson } from '../api.ts';
import { Alert, Badge, StatusBadge } from '../components/basic.tsx';
import { Confirmation, Dialog } from '../components/dialog.tsx';
import { type Column, Grid } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { type Entry, type Filter, filterOf } from '../lib/entry.ts';
import { bytes, count, duration, plural, timeOfDay } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { useStore } from '../lib/store.ts';
import { live, type LiveState, namespace } from '../live.ts';
import { Details } from '../requests/details.tsx';
import { type Answer, emptyFeed, type Feed, isGap, merge, mostRows, perUpdate, type Row, rowKey } from '../requests/feed.ts';
import { Filters } from '../requests/filters.tsx';
import { replaceParams, route } from '../router.ts';
import './requests.css';

const firstRows = 1_000;

const lastOf = ({ latest }: LiveState) => latest?.namespace.journal?.last ?? 0;
const generationOf = ({ latest }: LiveState) => latest?.namespace.journal?.generation ?? '';

interface FeedState {
  feed: Feed;
  problem: string;
  loading: boolean;
  load: (newest: number) => void; // Replaces all rows by the newest ones.
}

// Follows the journal: after each live event that reports new entries, the newest of them are fetched.
function useFeed(filter: Filter, paused: boolean): FeedState {
  const selected = useStore(namespace);
  const last = useStore(live, lastOf);
  const generation = useStore(live, generationOf);
  const [state, setState] = useState({ feed: emptyFeed, problem: '', loading: true });
  const feed = useRef(emptyFeed);
  const request = useRef<AbortController | null>(null);
  const key = JSON.stringify(filter);

  const fetchNewest = useCallback(
    async (after: Feed, newest: number) => {
      request.current?.abort();
      const abort = new AbortController();
      request.current = abort;
      try {
        const params = { ...filter, newest, after: after.last || undefined };
        const answer = await getJson<Answer>(inNamespace('journal', selected), params, abort.signal);
        if (abort.signal.aborted) return;
        feed.current = merge(after, answer, newest, Object.keys(filter).length > 0);
        setState({ feed: feed.current, problem: '', loading: false });
      } catch (error) {
        if (!isAbort(error)) setState({ feed: feed.current, problem: messageOf(error), loading: false });
      } finally {
        if (request.current === abort) request.current = null;
      }
    },
    [key, selected],
  );

  useEffect(() => {
    feed.current = emptyFeed;
    setState({ feed: emptyFeed, problem: '', loading: true });
    void fetchNewest(emptyFeed, firstRows);
    return () => request.current?.abort();
  }, [fetchNewest]);

  useEffect(() => {
    const known = feed.current;
    if (paused || request.current || !generation) return;
    if (known.generation !== generation) void fetchNewest(emptyFeed, firstRows);
    else if (known.last < last) void fetchNewest(known, perUpdate);
  }, [last, generation, paused, fetchNewest]);

  const load = useCallback(
    (newest: number) => {
      setState((old) => ({ ...old, loading: true }));
      void fetchNewest(emptyFeed, newest);
    },
    [fetchNewest],
  );
  return { ...state, load };
}

const columns: readonly Column<Row>[] = [
  {
    id: 'received',
    title: 'Time (UTC)',
    width: '6.9rem',
    cell: (row) => (isGap(row) ? '⋮' : <span class="numbers">{timeOfDay(row.received)}</span>),
  },
  {
    id: 'operation',
    title: 'Operation',
    width: 'minmax(76px, 180px)',
    cell: (row) => (isGap(row) ? <span class="muted">{gapText(row.missed)}</span> : row.operation || <span class="muted">{row.method}</span>),
  },
  { id: 'status', title: 'Status', width: '3.6rem', cell: (row) => !isGap(row) && <StatusBadge status={row.status} /> },
  {
    id: 'object',
    title: 'Bucket and key',
    width: 'minmax(140px, 1fr)',
    wideOnly: true,
    cell: (row) => !isGap(row) && <Name text={objectOf(row)} />,
  },
  {
    id: 'marks',
    title: 'Notes',
    width: '7rem',
    wideOnly: true,
    cell: (row) => !isGap(row) && <Marks entry={row} />,
  },
  { id: 'in', title: 'In', width: '4.9rem', end: true, wideOnly: true, cell: (row) => !isGap(row) && row.bytes_in > 0 && bytes(row.bytes_in) },
  { id: 'out', title: 'Out', width: '4.9rem', end: true, wideOnly: true, cell: (row) => !isGap(row) && row.bytes_out > 0 && bytes(row.bytes_out) },
  { id: 'duration', title: 'Duration', width: '4.9rem', end: true, cell: (row) => !isGap(row) && duration(row.lasted_s) },
];

const objectOf = (entry: Entry) => (entry.bucket ? `${entry.bucket}${entry.key ? `/${entry.key}` : ''}` : entry.target);
const gapText = (missed: number | null) => (missed === null ? 'more not shown' : `${count(missed)} not shown`);

function Marks(props: { entry: Entry }) {
  const { entry } = props;
  return (
    <span class="marks">
      {entry.attempt > 1 && <Badge tone="accent">retry {entry.attempt}</Badge>}
      {entry.faults && (
        <Badge tone="warning" title={`Fault rules: ${visibleText(entry.faults)}`}>
          fault
        </Badge>
      )}
      {entry.ending === 'broken' && <Badge tone="error">broken</Badge>}
      {entry.request_headers && <Badge>headers</Badge>}
    </span>
  );
}

const captureName = 'penstock-capture';
const captureSeconds = 300;

// The switch that records headers. The emulator ends it by itself; another page of this tab knows the time from the storage.
function CaptureSwitch() {
  const selected = useStore(namespace);
  const name = `${captureName} ${selected}`;
  const [until, setUntil] = useState(() => Number(sessionStorage.getItem(name) ?? 0));
  const on = until > Date.now();
  useEffect(() => {
    if (!on) return;
    const timer = setTimeout(() => setUntil(0), until - Date.now());
    return () => clearTimeout(timer);
  }, [until]);
  const toggle = async () => {
    try {
      const path = inNamespace('journal-capture', selected);
      const { until: end } = await sendJson<{ until: string | null }>('POST', path, { seconds: on ? 0 : captureSeconds });
      const next = end && !on ? Date.now() + 1_000 * captureSeconds : 0;
      sessionStorage.setItem(name, String(next));
      setUntil(next);
      notify('info', on ? 'Headers are no longer recorded.' : `Headers of the next ${captureSeconds / 60} minutes are recorded. Secrets are masked.`);
    } catch (error) {
      notify('error', messageOf(error));
    }
  };
  return (
    <button type="button" class="button" aria-pressed={on} onClick={() => void toggle()}>
      Record headers
    </button>
  );
}

function Actions(props: { filter: Filter; paused: boolean; setPaused: (paused: boolean) => void; onEmptied: () => void }) {
  const selected = useStore(namespace);
  const [clearing, setClearing] = useState(false);
  const path = inNamespace('journal', selected);
  const saveHar = () =>
    download(path, { ...props.filter, format: 'har' }, `penstock-${selected}.har`).catch((error: unknown) => notify('error', messageOf(error)));
  const clear = () => {
    setClearing(false);
    sendJson('DELETE', path).then(
      () => {
        notify('info', 'The journal is empty.');
        props.onEmptied();
      },
      (error: unknown) => notify('error', messageOf(error)),
    );
  };
  return (
    <div class="toolbar">
      <button type="button" class="button" aria-pressed={props.paused} onClick={() => props.setPaused(!props.paused)}>
        {props.paused ? 'Resume' : 'Pause'}
      </button>
      <CaptureSwitch />
      <button type="button" class="button" onClick={() => void saveHar()}>
        Save as HAR
      </button>
      <button type="button" class="button" onClick={() => setClearing(true)}>
        Empty the journal
      </button>
      {clearing && (
        <Confirmation title="Empty the journal" action="Delete all entries" onConfirm={clear} onClose={() => setClearing(false)}>
          All entries of the namespace “{selected}” are deleted. Tests that read the journal do not find them any more.
        </Confirmation>
      )}
    </div>
  );
}

// The entry of the address, from the rows or, if they do not have it, from the journal.
function useSelected(number: number | null, rows: readonly Row[]): { entry: Entry | null; problem: string } {
  const selected = useStore(namespace);
  const [found, setFound] = useState<{ entry: Entry | null; problem: string }>({ entry: null, problem: '' });
  useEffect(() => {
    if (number === null) {
      setFound({ entry: null, problem: '' });
      return;
    }
    const shown = rows.find((row) => row.number === number && !isGap(row));
    if (shown) {
      setFound({ entry: shown as Entry, problem: '' });
      return;
    }
    if (found.entry?.number === number) return;
    const abort = new AbortController();
    getJson<Answer>(inNamespace('journal', selected), { after: number > 1 ? number - 1 : undefined, limit: 1 }, abort.signal).then(
      ({ entries }) => {
        const entry = entries[0]?.number === number ? entries[0] : null;
        setFound({ entry, problem: entry ? '' : `The journal no longer has request ${count(number)}.` });
      },
      (error: unknown) => !isAbort(error) && setFound({ entry: null, problem: messageOf(error) }),
    );
    return () => abort.abort();
  }, [number, rows.length === 0, selected]);
  return found;
}

function useMatches(query: string): boolean {
  const list = useMemo(() => matchMedia(query), [query]);
  const [matches, setMatches] = useState(list.matches);
  useEffect(() => {
    const change = () => setMatches(list.matches);
    list.addEventListener('change', change);
    return () => list.removeEventListener('change', change);
  }, [list]);
  return matches;
}

export default function Requests() {
  const { params } = useStore(route);
  const last = useStore(live, lastOf);
  const [paused, setPaused] = useState(false);
  const filter = useMemo(() => filterOf(params), [params]);
  const { feed, problem, loading, load } = useFeed(filter, paused);
  const wide = useMatches('(width >= 1100px)');
  const number = Number(params.get('entry') ?? '') || null;
  const { entry, problem: missing } = useSelected(number, feed.rows);
  const open = useCallback((row: Row) => !isGap(row) && replaceParams({ entry: String(row.number) }), []);
  const body = useRef<HTMLDivElement>(null);
  const close = () => {
    replaceParams({ entry: undefined });
    body.current?.querySelector<HTMLElement>('[role=grid]')?.focus(); // Its active row is the one that was open.
  };
  const filtered = Object.keys(filter).length > 0;
  const behind = paused ? Math.max(0, last - feed.last) : 0;
  const entries = useMemo(() => feed.rows.reduce((n, row) => n + (isGap(row) ? 0 : 1), 0), [feed.rows]);

  const empty = loading ? 'Loading …' : filtered ? 'No request matches these filters.' : 'No requests yet.';
  const beside = entry !== null && wide;
  // Not rendered again by live events, which change nothing in it.
  const grid = useMemo(
    () => (
      <Grid
        label="Requests, newest first"
        columns={columns}
        rows={feed.rows}
        rowKey={rowKey}
        selected={number}
        onOpen={open}
        {...(beside ? { onMove: open } : {})}
        reuse
        empty={empty}
      />
    ),
    [feed.rows, number, open, beside, empty],
  );

  return (
    <div class="requests">
      <div class="view-head">
        <h1>Requests</h1>
        <Actions filter={filter} paused={paused} setPaused={setPaused} onEmptied={() => load(firstRows)} />
      </div>
      <Filters filter={filter} />
      {problem && <Alert kind="error">{problem}</Alert>}
      {missing && (
        <Alert
          kind="warning"
          action={
            <button type="button" class="button small" onClick={close}>
              Close
            </button>
          }
        >
          {missing}
        </Alert>
      )}
      <div
        class="requests-body"
        ref={body}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && entry && wide) close();
        }}
      >
        <section class="panel" aria-label="List of requests">
          {grid}
          <p class="requests-foot muted">
            <span>
              {plural(entries, 'request', 'requests')}
              {filtered ? ' match' : ` of ${count(feed.size)} in the journal`}
              {behind > 0 && `; ${count(behind)} more since the pause`}
            </span>
            {!filtered && entries < Math.min(feed.size, mostRows) && (
              <button type="button" class="button small" disabled={loading} onClick={() => load(mostRows)}>
                Show all {count(Math.min(feed.size, mostRows))}
              </button>
            )}
            {filtered && entries >= firstRows && (
              <button type="button" class="button small" disabled={loading} onClick={() => load(mostRows)}>
                Show all that match
              </button>
            )}
          </p>
        </section>
        {entry && wide && (
          <section class="panel requests-details" aria-label={`Request ${entry.number}`}>
            <div class="panel-head">
              <h2>Request {count(entry.number)}</h2>
              <button type="button" class="button small plain" onClick={close}>
                Close
              </button>
            </div>
            <div class="panel-body" tabIndex={0} role="region" aria-label="Members of the request">
              <Details entry={entry} />
            </div>
          </section>
        )}
      </div>
      {entry && !wide && (
        <Dialog wide title={`Request ${count(entry.number)}`} onClose={close}>
          <Details entry={entry} />
        </Dialog>
      )}
    </div>
  );
}
