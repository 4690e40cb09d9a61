// What the emulator does now: rates, latencies and connections of the last five minutes.
import type { ComponentChildren } from 'preact';
import { Alert, Badge } from '../components/basic.tsx';
import { lazy } from '../components/lazy.tsx';
import { byteRate, bytes, count, duration, number, plural } from '../lib/format.ts';
import * as history from '../lib/history.ts';
import type { LiveEvent } from '../lib/history.ts';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import { type Events, lastSeconds, latencyCounts, latencySeconds, rateSeconds } from '../overview/rates.ts';
import './overview.css';

// The page opens with this view: its heading and tiles are painted before the library of charts is loaded.
const Details = lazy(() => import('../overview/details.tsx'));

function Tile(props: { name: string; value: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="tile">
      <dt>{props.name}</dt>
      <dd class="numbers">
        {props.value}
        {props.note && <small>{props.note}</small>}
      </dd>
    </div>
  );
}

function Tiles(props: { events: Events }) {
  const { events } = props;
  const latest = events.at(-1)!;
  const base = history.baseOf(events, events.length - 1, rateSeconds);
  const perSecond = (value: (event: LiveEvent) => number) => (base ? history.rate(base, latest, value) : Number.NaN);
  const failed = (event: LiveEvent) => {
    const classes = history.byStatusClass(event.statuses);
    return (classes['4xx'] ?? 0) + (classes['5xx'] ?? 0) + (classes['no response'] ?? 0);
  };
  const p99 = history.percentile(latest.latency.bounds_s, latencyCounts(events, events.length - 1, 'read'), 0.99);
  return (
    <dl class="tiles">
      <Tile name="Requests/s" value={number(perSecond(history.totalRequests))} note={`${count(history.totalRequests(latest))} in total`} />
      <Tile name="Errors/s" value={number(perSecond(failed))} note={`${count(failed(latest))} in total`} />
      <Tile name="Read p99" value={p99 === null ? '–' : duration(p99)} note={lastSeconds(latencySeconds)} />
      <Tile name="Received" value={byteRate(perSecond((event) => event.bytes_in))} note={`${bytes(latest.bytes_in)} in total`} />
      <Tile name="Sent" value={byteRate(perSecond((event) => event.bytes_out))} note={`${bytes(latest.bytes_out)} in total`} />
      <Tile name="Retries" value={count(latest.retries)} note={`${number(perSecond((event) => event.retries))}/s`} />
      <Tile name="Connections" value={count(latest.open_connections)} note="open on the S3 port" />
      <Tile
        name="Memory"
        value={bytes(latest.memory_used_bytes)}
        note={latest.memory_limit_bytes > 0 ? `of ${bytes(latest.memory_limit_bytes)}` : 'no limit'}
      />
    </dl>
  );
}

function State(props: { latest: LiveEvent }) {
  const { latest } = props;
  const { clock, faults_active: faults, limits_active: limits, s3_port: port } = latest.namespace;
  return (
    <div class="toolbar">
      <Badge>S3 port {port}</Badge>
      <Badge>running for {duration(Math.floor(latest.uptime_s))}</Badge>
      <Badge>{plural(latest.namespaces.length, 'namespace', 'namespaces')}</Badge>
      {faults && <Badge tone="warning">faults active</Badge>}
      {limits && <Badge tone="accent">limits active</Badge>}
      {(clock.frozen || clock.rate !== 1 || Math.abs(clock.offset_seconds) >= 1) && (
        <Badge tone="warning">{clock.frozen ? 'clock frozen' : 'clock changed'}</Badge>
      )}
    </div>
  );
}

export default function Overview() {
  const { events, latest, phase } = useStore(live);
  if (!latest || events.length === 0) {
    return (
      <>
        <h1>Overview</h1>
        {phase === 'connecting' && <Alert kind="info">Connecting to the emulator …</Alert>}
      </>
    );
  }
  return (
    <>
      <div class="view-head">
        <h1>Overview</h1>
        <State latest={latest} />
      </div>
      <Tiles events={events} />
      <p class="muted">Rates, in legends and tables too: {lastSeconds(rateSeconds)}. Latencies: {lastSeconds(latencySeconds)}.</p>
      <Details events={events} />
    </>
  );
}
