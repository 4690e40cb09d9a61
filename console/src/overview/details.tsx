// The charts of the last five minutes, and tables of all numbers.
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { Panel, SimpleTable, StatusBadge } from '../components/basic.tsx';
import { Chart, ChartPanel, type Series } from '../components/chart.tsx';
import { bytes, count, duration, number, percent } from '../lib/format.ts';
import * as history from '../lib/history.ts';
import type { LatencyClass, LiveEvent } from '../lib/history.ts';
import { type Events, lastSeconds, latencyCounts, latencySeconds, rateSeconds } from './rates.ts';

const tokens = [1, 2, 3, 4, 5, 6].map((n) => `--series-${n}`);
const statusTokens: Record<string, string> = {
  '2xx': '--ok',
  '3xx': '--series-1',
  '4xx': '--warning',
  '5xx': '--error',
  'no response': '--series-4',
};
const quantiles = [
  { name: 'p50', q: 0.5, token: '--series-1' },
  { name: 'p90', q: 0.9, token: '--series-2' },
  { name: 'p99', q: 0.99, token: '--series-5' },
] as const;

// A value for each event but the first, as a rate per second.
function rates(events: Events, value: (event: LiveEvent) => number): (number | null)[] {
  return events.map((event, i) => {
    const base = history.baseOf(events, i, rateSeconds);
    return base ? history.rate(base, event, value) : null;
  });
}

function operationSeries(events: Events): Series[] {
  const latest = events.at(-1)!;
  const names = history.largest(latest.requests, tokens.length);
  const series: Series[] = names.map((name, i) => ({
    name,
    token: tokens[i]!,
    values: rates(events, (event) => event.requests[name] ?? 0),
  }));
  if (Object.values(latest.requests).filter((n) => n > 0).length > names.length) {
    const others = (event: LiveEvent) => history.totalRequests(event) - names.reduce((sum, name) => sum + (event.requests[name] ?? 0), 0);
    series.push({ name: 'others', token: '--series-7', values: rates(events, others) });
  }
  return series.length > 0 ? series : [{ name: 'all', token: tokens[0]!, values: rates(events, history.totalRequests) }];
}

function statusSeries(events: Events): Series[] {
  const classes = Object.keys(history.byStatusClass(events.at(-1)!.statuses)).sort();
  return (classes.length > 0 ? classes : ['2xx']).map((name) => ({
    name,
    token: statusTokens[name] ?? '--series-7',
    values: rates(events, (event) => history.byStatusClass(event.statuses)[name] ?? 0),
  }));
}

function latencySeries(events: Events, of: LatencyClass): Series[] {
  const bounds = events.at(-1)!.latency.bounds_s;
  const counts = events.map((_, i) => latencyCounts(events, i, of));
  return quantiles.map(({ name, q, token }) => ({ name, token, values: counts.map((one) => history.percentile(bounds, one, q)) }));
}

function LatencyPanel(props: { events: Events; times: readonly number[] }) {
  const [shown, setShown] = useState<LatencyClass>('read');
  const series = useMemo(() => latencySeries(props.events, shown), [props.events, shown]);
  return (
    <Panel
      title="Latency"
      actions={
        <div class="toolbar" role="group" aria-label="Class of requests">
          {history.latencyClasses.map((name) => (
            <button key={name} type="button" class="button small plain" aria-pressed={name === shown} onClick={() => setShown(name)}>
              {name}
            </button>
          ))}
        </div>
      }
    >
      <Chart title={`Latency of ${shown} requests`} times={props.times} series={series} format={duration} />
    </Panel>
  );
}

function LatencyTable(props: { events: Events }) {
  const latest = props.events.at(-1)!;
  const bounds = latest.latency.bounds_s;
  const rows = history.latencyClasses.map((name) => {
    const total = latest.latency[name];
    const requests = total.counts.reduce((sum, n) => sum + n, 0);
    return { name, requests, total, recent: latencyCounts(props.events, props.events.length - 1, name) };
  });
  const cell = (value: number | null) => (value === null ? '–' : duration(value));
  return (
    <SimpleTable
      label="Latency by class"
      rows={rows}
      rowKey={(row) => row.name}
      columns={[
        { title: 'Class', cell: (row) => row.name },
        ...quantiles.map(({ name, q }) => ({
          title: `${name}, ${lastSeconds(latencySeconds)}`,
          end: true,
          cell: (row: (typeof rows)[number]) => cell(history.percentile(bounds, row.recent, q)),
        })),
        ...quantiles.map(({ name, q }) => ({
          title: `${name}, total`,
          end: true,
          cell: (row: (typeof rows)[number]) => cell(history.percentile(bounds, row.total.counts, q)),
        })),
        { title: 'Mean', end: true, cell: (row) => cell(row.requests > 0 ? row.total.sum_s / row.requests : null) },
        { title: 'Requests', end: true, cell: (row) => count(row.requests) },
      ]}
    />
  );
}

function CountTable(props: { label: string; name: string; events: Events; of: (event: LiveEvent) => Readonly<Record<string, number>>; cell: (name: string) => ComponentChildren }) {
  const { events, of } = props;
  const latest = events.at(-1)!;
  const base = history.baseOf(events, events.length - 1, rateSeconds);
  const total = Object.values(of(latest)).reduce((sum, n) => sum + n, 0);
  const rows = Object.entries(of(latest))
    .filter(([, n]) => n > 0)
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return (
    <SimpleTable
      label={props.label}
      rows={rows}
      rowKey={([name]) => name}
      empty="No requests yet."
      columns={[
        { title: props.name, cell: ([name]) => props.cell(name) },
        { title: 'Per second', end: true, cell: ([name]) => (base ? number(history.rate(base, latest, (event) => of(event)[name] ?? 0)) : '–') },
        { title: 'Total', end: true, cell: ([, n]) => count(n) },
        { title: 'Share', end: true, cell: ([, n]) => percent(n / total) },
      ]}
    />
  );
}

function Charts(props: { events: Events }) {
  const { events } = props;
  const all = useMemo(() => {
    const series = (name: string, token: string, values: (number | null)[], fill = false): Series => ({ name, token, values, fill });
    return {
      times: events.map((event) => Date.parse(event.time) / 1_000),
      operations: operationSeries(events),
      statuses: statusSeries(events),
      traffic: [
        series('sent', '--series-1', rates(events, (event) => event.bytes_out), true),
        series('received', '--series-3', rates(events, (event) => event.bytes_in), true),
      ],
      failures: [
        series('retries', '--series-2', rates(events, (event) => event.retries)),
        series('injected failures', '--series-5', rates(events, (event) => event.injected_failures)),
      ],
      connections: [series('open', '--series-4', events.map((event) => event.open_connections), true)],
      memory: [
        series('used', '--series-1', events.map((event) => event.memory_used_bytes), true),
        series('journals', '--series-6', events.map((event) => event.journal_bytes)),
      ],
    };
  }, [events]);
  const { times } = all;
  return (
    <div class="charts">
      <ChartPanel title="Requests by operation, per second" times={times} series={all.operations} format={number} />
      <ChartPanel title="Responses by status, per second" times={times} series={all.statuses} format={number} />
      <LatencyPanel events={events} times={times} />
      <ChartPanel title="Bytes per second" times={times} series={all.traffic} format={bytes} binary />
      <ChartPanel title="Retries and injected failures, per second" times={times} series={all.failures} format={number} />
      <ChartPanel title="Open connections" times={times} series={all.connections} format={number} />
      <ChartPanel title="Memory" times={times} series={all.memory} format={bytes} binary />
    </div>
  );
}

export default function Details(props: { events: Events }) {
  const { events } = props;
  return (
    <>
      <Charts events={events} />
      <div class="tables">
        <Panel title="Operations" flush>
          <CountTable label="Requests by operation" name="Operation" events={events} of={(event) => event.requests} cell={(name) => name} />
        </Panel>
        <Panel title="Statuses" flush>
          <CountTable label="Responses by status" name="Status" events={events} of={(event) => event.statuses} cell={(name) => <StatusBadge status={Number(name)} />} />
        </Panel>
        <Panel title="Latency by class" flush class="wide">
          <LatencyTable events={events} />
        </Panel>
      </div>
    </>
  );
}
