// Which keys get 503, from the journal.
import { useEffect, useRef } from 'preact/hooks';
import { getJson, inNamespace } from '../api.ts';
import { Alert, Panel, SimpleTable } from '../components/basic.tsx';
import { Name } from '../components/name.tsx';
import { count, percent, plural } from '../lib/format.ts';
import { countPrefixes } from '../lib/prefixes.ts';
import { usePolled } from '../polling.ts';
import { hashOf } from '../router.ts';

const mostKeys = 10_000;
const mostPrefixes = 10;

interface Page {
  last: number;
  generation: number;
  entries: readonly { number: number; key?: string; faults?: string }[];
}

interface Refused {
  keys: readonly string[]; // Of the latest requests with 503.
  after: number;
  generation: number | null;
}

const nothing: Refused = { keys: [], after: 0, generation: null };

// Reads the entries since the last call. Refusals by fault rules are not the limits'.
async function readMore(space: string, bucket: string, old: Refused, signal: AbortSignal): Promise<Refused> {
  const page = await getJson<Page>(inNamespace('journal', space), { status: 503, bucket, after: old.after || undefined, newest: 2_000 }, signal);
  if (old.generation !== null && page.generation !== old.generation) return readMore(space, bucket, nothing, signal);
  const keys = page.entries.filter((entry) => !entry.faults).map((entry) => entry.key ?? '');
  const all = keys.length > 0 ? [...old.keys, ...keys].slice(-mostKeys) : old.keys;
  return { keys: all, after: Math.max(old.after, page.last), generation: page.generation };
}

export function RefusedPrefixes(props: { space: string; bucket: string }) {
  const { space, bucket } = props;
  const key = `${space} ${bucket}`;
  const state = useRef(nothing);
  useEffect(() => {
    state.current = nothing;
  }, [key]);
  const polled = usePolled(
    async (signal) => {
      if (bucket) state.current = await readMore(space, bucket, state.current, signal);
      return state.current.keys;
    },
    2_000,
    key,
  );
  const keys = polled.value ?? [];
  const rows = countPrefixes(keys, mostPrefixes);
  const most = rows[0]?.count ?? 1;
  return (
    <Panel
      title="503 by prefix"
      flush
      actions={
        bucket && keys.length > 0 ? (
          <>
            <span class="muted numbers">the latest {plural(keys.length, 'refusal', 'refusals')}</span>
            <a class="button small" href={hashOf('requests', [], [['status', '503'], ['bucket', bucket]])}>
              Requests
            </a>
          </>
        ) : undefined
      }
    >
      {polled.problem && <Alert kind="error">{polled.problem}</Alert>}
      <SimpleTable
        label="503 responses by key prefix"
        rows={rows}
        rowKey={(row) => `${row.prefix} ${row.whole}`}
        empty="No request of this bucket in the journal was refused by the limits."
        columns={[
          { title: 'Prefix', cell: (row) => <span class="mono">{row.prefix === '' ? row.whole ? 'all keys' : 'keys without /' : <Name text={row.prefix} />}</span> },
          {
            title: '503',
            cell: (row) => (
              <span class="bar-cell">
                <span class="bar" aria-hidden="true">
                  <span class="bar-error" style={{ width: `${(100 * row.count) / most}%` }} />
                </span>
                {count(row.count)}
              </span>
            ),
          },
          { title: 'Share', end: true, cell: (row) => percent(row.count / keys.length) },
        ]}
      />
    </Panel>
  );
}
