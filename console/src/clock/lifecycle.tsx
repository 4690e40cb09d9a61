// What lifecycle rules would do at a time, and what they did.
import { useEffect, useState } from 'preact/hooks';
import { getJson, sendJson } from '../api.ts';
import { Alert, Panel } from '../components/basic.tsx';
import { Grid, rowHeight, useDelayed, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { localOf, utcOf, type Clock } from '../lib/clock.ts';
import { bytes, dateTime, plural } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { actionText, type LifecycleAccount, type LifecycleAction } from '../lib/lifecycle.ts';
import { useAction, usePolled } from '../polling.ts';

const columns: readonly Column<LifecycleAction>[] = [
  { id: 'key', title: 'Object', width: 'minmax(140px, 2fr)', cell: (row) => <Name text={`${row.bucket}/${row.key}`} /> },
  { id: 'action', title: 'Action', width: 'minmax(110px, 1.2fr)', cell: (row) => <span title={row.action}>{actionText(row)}</span> },
  { id: 'rule', title: 'Rule', width: 'minmax(70px, 1fr)', cell: (row) => (row.rule ? <Name text={row.rule} /> : '–') },
  { id: 'date', title: 'Due', width: '168px', wideOnly: true, cell: (row) => dateTime(row.date), compare: (a, b) => Date.parse(a.date) - Date.parse(b.date) },
  { id: 'size', title: 'Size', width: '80px', end: true, wideOnly: true, cell: (row) => bytes(row.size), compare: (a, b) => a.size - b.size },
];

function Log(props: { label: string; account: LifecycleAccount; empty: string }) {
  const { account } = props;
  const failed = account.buckets.filter((bucket) => bucket.error);
  return (
    <>
      {failed.map((bucket) => (
        <Alert key={bucket.name} kind="error">
          {plural(bucket.failed, 'action', 'actions')} of {bucket.name} failed: {visibleText(bucket.error ?? '')}
        </Alert>
      ))}
      <Grid
        label={props.label}
        columns={columns}
        rows={account.log}
        rowKey={(row) => `${row.bucket}\n${row.key}\n${row.version_id ?? ''}\n${row.upload_id ?? ''}\n${row.action}`}
        height={`${(Math.min(Math.max(account.log.length, 3), 10) + 1) * rowHeight + 2}px`}
        empty={props.empty}
      />
      {account.omitted > 0 && <p class="clock-note muted">{plural(account.omitted, 'more action is', 'more actions are')} not listed.</p>}
    </>
  );
}

const previewMs = 3_000;

// Repeats by itself: requests and runs in the background change what is due, also while the clock stands.
function usePreview(space: string, by: string | null, round: string) {
  const typed = useDelayed(by, 200); // While a date is typed, each key changes it.
  const load = async (signal: AbortSignal) => (typed ? getJson<LifecycleAccount>('lifecycle', { namespace: space, by: typed }, signal) : null);
  const polled = usePolled(load, previewMs, space);
  useEffect(polled.refresh, [typed, round]);
  return polled;
}

export function LifecyclePanel(props: { space: string; clock: Clock | null; changes: number }) {
  const { space, clock } = props;
  const [chosen, setChosen] = useState(''); // Of the date field; '' follows the clock.
  const [done, setDone] = useState<LifecycleAccount | null>(null);
  const action = useAction();
  const minute = clock ? clock.now.slice(0, 16) : '';
  const by = chosen ? utcOf(chosen) : clock ? `${minute}:59Z` : null;
  const preview = usePreview(space, by, `${props.changes} ${done?.time ?? ''}`);
  const ahead = (days: number) => setChosen(localOf(new Date(Date.parse(clock?.now ?? new Date().toISOString()) + days * 86_400_000)));
  const run = () =>
    void action.run(async () => setDone(await sendJson<LifecycleAccount>('POST', 'lifecycle/run', undefined, { namespace: space })));
  const due = preview.value;
  return (
    <Panel
      title="Lifecycle"
      flush
      actions={
        <button type="button" class="button small primary" disabled={action.busy} onClick={run}>
          Run now
        </button>
      }
    >
      <div class="clock-note preview-time">
        <label for="preview-by">What is due by</label>
        <input id="preview-by" class="input" type="datetime-local" step={1} value={chosen || minute} onInput={(event) => setChosen(event.currentTarget.value)} />
        <span class="muted">UTC</span>
        <div class="toolbar">
          <button type="button" class="button small" aria-pressed={chosen === ''} onClick={() => setChosen('')}>
            The clock's time
          </button>
          {[1, 7, 30, 365].map((days) => (
            <button key={days} type="button" class="button small" onClick={() => ahead(days)}>
              +{days} d
            </button>
          ))}
        </div>
      </div>
      {(preview.problem || action.problem) && <Alert kind="error">{preview.problem || action.problem}</Alert>}
      {due && <Log label="Actions that are due" account={due} empty="Nothing is due at this time." />}
      {due?.next && <p class="clock-note muted">The next action may follow at {dateTime(due.next)}.</p>}
      {done && (
        <>
          <h3 class="clock-note">
            Done by {done.time ? dateTime(done.time) : 'now'}: {plural(done.actions, 'action', 'actions')}
          </h3>
          <Log label="Actions of the latest run" account={done} empty="Nothing was due." />
        </>
      )}
    </Panel>
  );
}
