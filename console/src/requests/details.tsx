// One request in full.
import { useEffect, useState } from 'preact/hooks';
import { getJson, inNamespace } from '../api.ts';
import { Badge, CopyButton, Members, SimpleTable, StatusBadge } from '../components/basic.tsx';
import { Name } from '../components/name.tsx';
import { type Decision, type Entry, type FilterName, type Header, signatureVerdict } from '../lib/entry.ts';
import { bytes, count, dateTime, duration, timeOfDay } from '../lib/format.ts';
import { visibleJson } from '../lib/keys.ts';
import { boto3Line, curlLine } from '../lib/replay.ts';
import { live, namespace } from '../live.ts';
import { hashOf } from '../router.ts';
import type { Answer } from './feed.ts';

function FilterLink(props: { name: FilterName; value: string }) {
  return (
    <a href={hashOf('requests', [], [[props.name, props.value]])}>
      <Name text={props.value} />
    </a>
  );
}

// The requests of one call of an SDK, as bars on one time axis. Without an invocation id only this request.
function Timing(props: { entry: Entry }) {
  const { entry } = props;
  const [attempts, setAttempts] = useState<readonly Entry[]>([entry]);
  useEffect(() => {
    setAttempts([entry]);
    if (!entry.invocation) return;
    const abort = new AbortController();
    const params = { invocation: entry.invocation, limit: 20 };
    getJson<Answer>(inNamespace('journal', namespace.value), params, abort.signal).then(
      ({ entries }) => entries.some((one) => one.number === entry.number) && setAttempts(entries),
      () => undefined, // The bar of the request itself stays.
    );
    return () => abort.abort();
  }, [entry]);
  const begin = Math.min(...attempts.map((one) => one.began_s));
  const whole = Math.max(...attempts.map((one) => one.began_s + one.lasted_s)) - begin;
  const share = (seconds: number) => (whole > 0 ? (100 * seconds) / whole : 100);
  return (
    <>
      <ul class="timing">
        {attempts.map((one) => (
          <li key={one.number} aria-current={one.number === entry.number ? 'true' : undefined}>
            <span>{attempts.length > 1 ? `Attempt ${one.attempt}` : 'Request'}</span>
            <span class="timing-track">
              <span
                class={`timing-bar ${one.status === 0 || one.status >= 400 ? 'failed' : ''}`}
                style={{ marginLeft: `${share(one.began_s - begin)}%`, width: `${share(one.lasted_s)}%` }}
              />
            </span>
            <span class="numbers">
              {one.status || 'none'}, {duration(one.lasted_s)}
            </span>
          </li>
        ))}
      </ul>
      {attempts.length > 1 && (
        <p class="muted">
          {attempts.length} attempts in {duration(whole)}, from the first request to the last response.
        </p>
      )}
    </>
  );
}

function Headers(props: { title: string; headers: readonly Header[] | undefined }) {
  if (!props.headers) return null;
  return (
    <>
      <h3>{props.title}</h3>
      <dl class="members header-list">
        {props.headers.map(([name, value], i) => (
          <>
            <dt key={i}>
              <Name text={name} />
            </dt>
            <dd class="mono">
              <Name text={value} />
            </dd>
          </>
        ))}
      </dl>
    </>
  );
}

const plain = (value: unknown) => (typeof value === 'object' ? visibleJson(value, 0) : <Name text={String(value)} />);

function Decisions(props: { decisions: readonly Decision[] }) {
  const known = ['action', 'resource', 'allowed', 'decided_by'];
  return (
    <ul class="decisions">
      {props.decisions.map((decision, i) => (
        <li key={i}>
          <Badge tone={decision.allowed ? 'ok' : 'error'}>{decision.allowed ? 'allowed' : 'denied'}</Badge>
          <Members
            items={[
              ['Action', decision.action],
              ['Resource', decision.resource && <Name text={decision.resource} />],
              ['Decided by', decision.decided_by],
              ...Object.entries(decision)
                .filter(([name]) => !known.includes(name))
                .map(([name, value]) => [name.replaceAll('_', ' '), plain(value)] as const),
            ]}
          />
        </li>
      ))}
    </ul>
  );
}

function Replay(props: { entry: Entry }) {
  const port = live.value.latest?.namespace.s3_port ?? 9000;
  const endpoint = { host: location.hostname, port };
  const curl = curlLine(props.entry, endpoint);
  const boto3 = boto3Line(props.entry, endpoint);
  const hasBody = props.entry.bytes_in > 0;
  return (
    <>
      <div class="line-head">
        <h4>curl</h4>
        <CopyButton label="Copy curl" text={() => curl} />
      </div>
      <pre class="code-block" tabIndex={0} aria-label="Line of curl">
        {curl}
      </pre>
      {boto3 && (
        <>
          <div class="line-head">
            <h4>boto3</h4>
            <CopyButton label="Copy boto3" text={() => boto3} />
          </div>
          <pre class="code-block" tabIndex={0} aria-label="Line of boto3">
            {boto3}
          </pre>
        </>
      )}
      <p class="muted">
        {props.entry.access_key ? 'The access key comes from the environment. ' : ''}
        {hasBody ? 'The journal keeps no bodies: BODY is a file of yours. ' : ''}
        {boto3?.includes('=...') ? '“...” is an argument that the journal does not have.' : ''}
      </p>
    </>
  );
}

export function Details(props: { entry: Entry }) {
  const { entry } = props;
  const verdict = signatureVerdict(entry);
  const faults = entry.faults ? entry.faults.split(',') : [];
  return (
    <div class="details">
      <p class="toolbar">
        <strong>{entry.operation || 'No operation'}</strong>
        <StatusBadge status={entry.status} />
        {entry.error_code && <Badge tone="error">{entry.error_code}</Badge>}
        {entry.ending === 'broken' && <Badge tone="error">connection broken</Badge>}
        {faults.map((rule) => (
          <Badge key={rule} tone="warning">
            fault: <Name text={rule} />
          </Badge>
        ))}
      </p>
      <p class="mono wrap-anywhere">
        {entry.method} <Name text={entry.target} />
      </p>

      <h3>Time</h3>
      <Timing entry={entry} />

      <h3>Request</h3>
      <Members
        items={[
          ['Number', count(entry.number)],
          ['Received', `${dateTime(entry.received).slice(0, 11)}${timeOfDay(entry.received)} UTC`],
          ['Began', `${entry.began_s.toFixed(6)} s after the journal's start`],
          ['Duration', duration(entry.lasted_s)],
          ['Bucket', entry.bucket && <FilterLink name="bucket" value={entry.bucket} />],
          ['Key', entry.key && <FilterLink name="key" value={entry.key} />],
          ['Range', entry.range && `bytes ${count(entry.range[0])} to ${count(entry.range[1] - 1)} of the object`],
          ['Request body', `${bytes(entry.bytes_in)} (${count(entry.bytes_in)} bytes)`],
          ['Response body', `${bytes(entry.bytes_out)} (${count(entry.bytes_out)} bytes)`],
          ['Request id', <span class="mono">{entry.request_id}</span>],
        ]}
      />

      <h3>Client</h3>
      <Members
        items={[
          ['Access key', entry.access_key ? <FilterLink name="access_key" value={entry.access_key} /> : 'none'],
          ['Signature', <Badge tone={verdict.tone}>{verdict.text}</Badge>],
          ['Payload', entry.payload],
          ['Checksums', entry.checksums && <span class="mono">{entry.checksums}</span>],
          ['Attempt', count(entry.attempt)],
          ['Invocation', entry.invocation && <FilterLink name="invocation" value={entry.invocation} />],
          ['Connection', <FilterLink name="connection" value={String(entry.connection)} />],
          ['Earlier on it', `${count(entry.requests_before)} requests`],
          ['Rank', entry.rank !== undefined && <FilterLink name="rank" value={String(entry.rank)} />],
          ['Address', `${entry.peer}${entry.tls ? ', TLS' : ''}`],
          ['User agent', entry.user_agent && <Name text={entry.user_agent} />],
        ]}
      />

      {faults.length > 0 && (
        <>
          <h3>Faults</h3>
          <SimpleTable
            label="Fault rules that fired"
            rows={faults}
            rowKey={(rule) => rule}
            columns={[{ title: 'Rule', cell: (rule) => <FilterLink name="fault" value={rule} /> }]}
          />
        </>
      )}

      {entry.decisions && (
        <>
          <h3>Decisions about permissions</h3>
          <Decisions decisions={entry.decisions} />
        </>
      )}

      <Headers title="Request headers" headers={entry.request_headers} />
      <Headers title="Response headers" headers={entry.response_headers} />
      {!entry.request_headers && <p class="muted">Its headers were not recorded. “Record headers” records those of later requests.</p>}

      <h3>Send it again</h3>
      <Replay entry={entry} />
    </div>
  );
}
