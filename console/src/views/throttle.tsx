// The limits of the namespace: partitions over time, refusals, settings, and a comparison of key prefixes.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { getJson, inNamespace, sendJson } from '../api.ts';
import { Alert, Badge, Panel } from '../components/basic.tsx';
import { count, plural } from '../lib/format.ts';
import { appendColumn, columnOf, continues, type BucketReport, type HeatColumn, type LimitsReport } from '../lib/partitions.ts';
import { ownBuckets } from '../lib/limits.ts';
import { useStore } from '../lib/store.ts';
import { live, namespace } from '../live.ts';
import { useAction, usePolled } from '../polling.ts';
import { replaceParams, route } from '../router.ts';
import { HeatMap } from '../throttle/heatmap.tsx';
import { LimitsPanel } from '../throttle/limits.tsx';
import { PartitionTable } from '../throttle/partitions.tsx';
import { RefusedPrefixes } from '../throttle/prefixes.tsx';
import { Simulation } from '../throttle/simulation.tsx';
import './throttle.css';

const shownSeconds = 300;
const mostCells = 400_000; // A bucket may have 65,536 partitions.

// The columns of the map, from the reports that arrive while the view is shown.
function useColumns(report: BucketReport | null, key: string): readonly HeatColumn[] {
  const [columns, setColumns] = useState<readonly HeatColumn[]>([]);
  const last = useRef<{ key: string; at: number; report: BucketReport } | null>(null);
  useEffect(() => {
    const previous = last.current;
    if (!report) {
      last.current = null;
      setColumns([]);
      return;
    }
    const at = Date.now() / 1_000;
    last.current = { key, at, report };
    if (!previous || previous.key !== key || !continues(previous.report, report)) setColumns([]);
    else setColumns((old) => appendColumn(old, columnOf(previous.report, report, previous.at, at), shownSeconds, mostCells));
  }, [report, key]);
  return columns;
}

// The chosen bucket, or the one with most requests.
function chosenBucket(report: LimitsReport | null, wanted: string): string {
  if (wanted) return wanted;
  const buckets = [...(report?.buckets ?? [])].sort((a, b) => b.admitted + b.refused - a.admitted - a.refused);
  return buckets[0]?.name ?? '';
}

function BucketPanel(props: { name: string; bucket: BucketReport | null; columns: readonly HeatColumn[]; active: boolean }) {
  const { bucket } = props;
  if (!bucket) {
    return (
      <Panel title="Partitions">
        <p class="muted">
          {props.active
            ? `${props.name ? `“${props.name}” has` : 'No bucket has'} had requests since the limits were set. Partitions show from the first request on.`
            : 'The namespace has no limits: every request is admitted. Apply limits, and the partitions of its buckets show here.'}
        </p>
      </Panel>
    );
  }
  return (
    <Panel
      title={`Partitions of ${bucket.name}`}
      flush
      actions={
        <div class="toolbar numbers">
          <Badge>{plural(bucket.partitions.length, 'partition', 'partitions')}</Badge>
          <Badge tone="ok">{count(bucket.admitted)} admitted</Badge>
          <Badge tone={bucket.refused > 0 ? 'error' : 'neutral'}>{count(bucket.refused)} refused</Badge>
        </div>
      }
    >
      <HeatMap columns={props.columns} seconds={shownSeconds} title={`Requests by partition of ${bucket.name}`} />
      <PartitionTable bucket={bucket} />
    </Panel>
  );
}

export default function Throttle() {
  const space = useStore(namespace);
  const active = useStore(live).latest?.namespace.limits_active ?? false;
  const { params } = useStore(route);
  const path = inNamespace('limits', space);
  const polled = usePolled<LimitsReport>((signal) => getJson<LimitsReport>(path, {}, signal), 1_000, path);
  const action = useAction();
  const report = polled.value;
  const name = chosenBucket(report, params.get('bucket') ?? '');
  const bucket = report?.buckets.find((one) => one.name === name) ?? null;
  const columns = useColumns(bucket, `${space} ${name}`);
  const names = useMemo(() => {
    const all = new Set([...(report?.buckets.map((one) => one.name) ?? []), ...ownBuckets(report?.limits ?? {}), ...(name ? [name] : [])]);
    return [...all].sort();
  }, [report, name]);
  const on = active || Object.keys(report?.limits ?? {}).length > 0;

  const apply = (document: unknown) => action.run(() => sendJson('PUT', path, document)).then(() => polled.refresh());
  const lift = () => action.run(() => sendJson('DELETE', path)).then(() => polled.refresh());
  return (
    <>
      <div class="view-head">
        <h1>Throttle</h1>
        <label class="view-control">
          Bucket{' '}
          <select class="input" value={name} onChange={(event) => replaceParams({ bucket: event.currentTarget.value })}>
            {names.length === 0 && <option value="">none yet</option>}
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
        <Badge tone={on ? 'accent' : 'neutral'}>{on ? 'limits on' : 'limits off'}</Badge>
        <button type="button" class="button" disabled={!on || action.busy} onClick={() => void lift()}>
          Turn off
        </button>
      </div>
      {polled.problem && <Alert kind="error">{polled.problem}</Alert>}
      <div class="throttle">
        <div class="throttle-column">
          <BucketPanel name={name} bucket={bucket} columns={columns} active={on} />
          <RefusedPrefixes space={space} bucket={name} />
        </div>
        <div class="throttle-column">
          {report && <LimitsPanel document={report.limits} bucket={name} buckets={names} on={on} busy={action.busy} problem={action.problem} onApply={(next) => void apply(next)} />}
        </div>
      </div>
      <Simulation limits={report?.limits ?? {}} bucket={name} />
    </>
  );
}
