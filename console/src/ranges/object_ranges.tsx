// The reads of one object: numbers, picture, tables.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Alert, Field, Panel } from '../components/basic.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { bytes, count, percent, plural } from '../lib/format.ts';
import type { Item } from '../lib/formats/binary.ts';
import { useLoading } from '../lib/loading.ts';
import { useStore } from '../lib/store.ts';
import { hashOf, replaceParams, route } from '../router.ts';
import type { Lane, Shade } from './draw.ts';
import { bytesIn, coveredAtLeast, formatRanges, parseRanges, without, type Range } from './intervals.ts';
import { layoutOf, type Layout } from './layout.ts';
import { RangePicture } from './picture.tsx';
import { byGroup, groupingNames, groupings, segmentsOf, type Group, type Grouping, type RangesAnswer, type Read } from './reads.ts';
import { zoom, type Window } from './scale.ts';
import { maxReads, useReads, type Object } from './use_reads.ts';

const noItems: readonly Item[] = [];
const noLayout: Layout = { size: 0, kind: '', items: [] };

function nameOf(value: string, by: Grouping): string {
  if (by === 'connection') return `connection ${value}`;
  if (by === 'rank' && value) return `rank ${value}`;
  return value || (by === 'access_key' ? 'anonymous' : 'none');
}

function lanesOf(answer: RangesAnswer, reads: readonly Read[], by: Grouping, wanted: readonly Range[], layout: Layout): Lane[] {
  const fixed = (name: string, colour: Lane['colour'], ranges: readonly Range[]): Lane => ({ name, kind: 'ranges', colour, ranges, segments: [] });
  const lanes: Lane[] = [];
  if (layout.items.length > 0) {
    lanes.push({ name: layout.kind, kind: 'items', colour: 'items', ranges: layout.items.map(({ begin, end }) => [begin, end] as const), segments: [] });
  }
  lanes.push(fixed('read', 'covered', answer.covered), fixed('read again', 'overlap', coveredAtLeast(answer.fetched, 2)));
  if (wanted.length > 0) {
    lanes.push(fixed('wanted', 'wanted', wanted), fixed('not wanted', 'overRead', without(answer.covered, wanted)), fixed('missing', 'overlap', answer.missing ?? []));
  }
  const grouped = byGroup(reads, by);
  for (const { value, ranges } of answer.groups) {
    lanes.push({ name: nameOf(value, by), kind: 'group', colour: 'neutral', ranges, segments: segmentsOf(grouped.get(value) ?? []) });
  }
  return lanes;
}

function Numbers(props: { answer: RangesAnswer; size: number; wanted: boolean }) {
  const { answer, size } = props;
  const tiles: [string, string, string][] = [
    ['Requests', count(answer.fetched.length), ''],
    ['Bytes fetched', bytes(answer.fetched_bytes), count(answer.fetched_bytes)],
    ['Different bytes', bytes(answer.covered_bytes), size > 0 ? `${percent(answer.covered_bytes / size)} of the object` : ''],
    ['Read again', bytes(answer.overlap_bytes), count(answer.overlap_bytes)],
  ];
  if (props.wanted) {
    const missing = (answer.missing ?? []).reduce((sum, [begin, end]) => sum + end - begin, 0);
    tiles.push(['Not wanted', bytes(answer.over_read_bytes ?? 0), count(answer.over_read_bytes ?? 0)], ['Missing', bytes(missing), count(missing)]);
  }
  return (
    <dl class="range-numbers">
      {tiles.map(([name, value, note]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd class="numbers">
            {value} <small class="muted">{note}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Controls(props: { by: Grouping; shade: Shade; wanted: string; problem: string; paused: boolean; onPause: (paused: boolean) => void }) {
  const [text, setText] = useState(props.wanted);
  useEffect(() => setText(props.wanted), [props.wanted]);
  return (
    <form
      class="toolbar range-controls"
      onSubmit={(event) => {
        event.preventDefault();
        replaceParams({ wanted: text.trim() });
      }}
    >
      <Field label="Group by">
        {(attributes) => (
          <select {...attributes} value={props.by} onChange={(event) => replaceParams({ by: event.currentTarget.value })}>
            {groupings.map((name) => (
              <option key={name} value={name}>
                {groupingNames[name]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Field label="Colour">
        {(attributes) => (
          <select {...attributes} value={props.shade} onChange={(event) => replaceParams({ colour: event.currentTarget.value })}>
            <option value="time">Time of the last read</option>
            <option value="count">Number of reads</option>
          </select>
        )}
      </Field>
      <Field label="Wanted bytes" hint="First and last byte, for example 0-99, 4096-8191" error={props.problem || undefined}>
        {(attributes) => <input {...attributes} spellcheck={false} autocomplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />}
      </Field>
      <button type="submit" class="button">
        Compare
      </button>
      <button type="button" class="button" aria-pressed={props.paused} onClick={() => props.onPause(!props.paused)}>
        Pause
      </button>
    </form>
  );
}

const seconds = (value: number) => `${value.toFixed(3)} s`;

function groupColumns(by: Grouping): Column<Group>[] {
  const number = (id: keyof Group, title: string, cell: (group: Group) => string, width = '96px', wideOnly = false): Column<Group> => ({
    id, title, width, end: true, wideOnly, cell, compare: (a, b) => Number(a[id]) - Number(b[id]),
  });
  return [
    { id: 'value', title: groupingNames[by], width: 'minmax(120px, 1fr)', cell: ({ value }) => <Name text={nameOf(value, by)} /> },
    number('requests', 'Requests', ({ requests }) => count(requests), '80px'),
    number('fetched_bytes', 'Fetched', (group) => bytes(group.fetched_bytes)),
    number('overlap_bytes', 'Read again', (group) => bytes(group.overlap_bytes)),
    number('first_s', 'First', (group) => seconds(group.first_s), '96px', true),
    number('last_s', 'Last', (group) => seconds(group.last_s), '96px', true),
    { id: 'ranges', title: 'Bytes', width: 'minmax(120px, 1fr)', wideOnly: true, cell: ({ ranges }) => formatRanges(ranges.slice(0, 20)) + (ranges.length > 20 ? ' …' : '') },
  ];
}

function itemColumns(covered: readonly Range[]): Column<Item>[] {
  const share = ({ begin, end }: Item) => (end > begin ? bytesIn(covered, begin, end) / (end - begin) : 0);
  return [
    { id: 'name', title: 'Name', width: 'minmax(130px, 2fr)', cell: ({ name }) => <Name text={name} />, compare: (a, b) => (a.name < b.name ? -1 : 1) },
    { id: 'detail', title: 'Type', width: 'minmax(110px, 1fr)', wideOnly: true, cell: ({ detail }) => detail },
    { id: 'begin', title: 'First byte', width: '110px', end: true, wideOnly: true, cell: ({ begin }) => count(begin), compare: (a, b) => a.begin - b.begin },
    { id: 'size', title: 'Size', width: '90px', end: true, cell: ({ begin, end }) => bytes(end - begin), compare: (a, b) => a.end - a.begin - (b.end - b.begin) },
    { id: 'read', title: 'Read', width: '70px', end: true, cell: (item) => percent(share(item)), compare: (a, b) => share(a) - share(b) },
  ];
}

function parseWanted(text: string): { wanted: Range[]; problem: string } {
  try {
    return { wanted: parseRanges(text), problem: '' };
  } catch (error) {
    return { wanted: [], problem: (error as Error).message };
  }
}

function ZoomButtons(props: { window: Window; size: number; onWindow: (window: Window) => void }) {
  const { window, size, onWindow } = props;
  const by = (factor: number) => onWindow(zoom(window, (window.from + window.to) / 2, factor, size));
  return (
    <div class="toolbar">
      <span class="muted hint">Click, then use the wheel; drag; double-click; arrows, + and −.</span>
      <button type="button" class="button small" onClick={() => by(0.5)}>
        Zoom in
      </button>
      <button type="button" class="button small" onClick={() => by(2)}>
        Zoom out
      </button>
      <button type="button" class="button small" onClick={() => onWindow({ from: 0, to: size })}>
        Show all
      </button>
    </div>
  );
}

// The part of the object that is shown: all of it until the user zooms.
function useWindow(size: number) {
  const [zoomed, setZoomed] = useState<Window | null>(null);
  const window = zoomed ?? { from: 0, to: size };
  const setWindow = ({ from, to }: Window) => setZoomed(from <= 0 && to >= size ? null : { from, to });
  return { window, setWindow };
}

function Shown(props: { object: Object; answer: RangesAnswer; reads: readonly Read[]; layout: Layout; by: Grouping; shade: Shade; wanted: readonly Range[] }) {
  const { answer, reads, layout, by, shade, wanted } = props;
  const size = Math.max(layout.size, answer.covered.at(-1)?.[1] ?? 0, wanted.at(-1)?.[1] ?? 0);
  const { window, setWindow } = useWindow(size);
  const lanes = useMemo(() => lanesOf(answer, reads, by, wanted, layout), [answer, reads, by, wanted, layout]);
  const groups = useMemo(() => groupColumns(by), [by]);
  const items = useMemo(() => itemColumns(answer.covered), [answer.covered]);
  const maxCount = useMemo(() => lanes.reduce((most, { segments }) => segments.reduce((m, { count: n }) => Math.max(m, n), most), 1), [lanes]);
  const zoomTo = ({ begin, end }: Item) => setWindow({ from: Math.max(0, begin - (end - begin) / 20), to: Math.min(size, end + (end - begin) / 20) });
  return (
    <>
      <Numbers answer={answer} size={layout.size} wanted={wanted.length > 0} />
      <Panel title="Picture" actions={<ZoomButtons window={window} size={size} onWindow={setWindow} />}>
        <RangePicture
          label={`Reads of ${props.object.key}: ${plural(answer.fetched.length, 'request', 'requests')}, ${bytes(answer.covered_bytes)} read, ${bytes(answer.overlap_bytes)} read again`}
          lanes={lanes}
          items={layout.items.length > 0 ? layout.items : noItems}
          size={size}
          window={window}
          onWindow={setWindow}
          shade={shade}
          times={[reads[0]?.began ?? 0, reads.at(-1)?.began ?? 0]}
          maxCount={maxCount}
        />
        <p class="range-legend muted">
          {shade === 'time' ? 'first read' : 'read once'} <span class="range-scale" /> {shade === 'time' ? 'last read' : `${count(maxCount)} reads`}
        </p>
      </Panel>
      <div class="range-tables">
        <Panel title={`Reads by ${groupingNames[by].toLowerCase()}`} flush>
          <Grid label={`Reads by ${groupingNames[by].toLowerCase()}`} height="260px" columns={groups} rows={answer.groups} rowKey={({ value }) => value} />
        </Panel>
        {layout.items.length > 0 && (
          <Panel title={layout.kind} flush>
            <Grid label={layout.kind} height="260px" columns={items} rows={layout.items} rowKey={(item) => `${item.begin} ${item.name} ${item.detail}`} onOpen={zoomTo} />
          </Panel>
        )}
      </div>
      {answer.groups_dropped > 0 && <p class="muted">{plural(answer.groups_dropped, 'group', 'groups')} with fewer bytes are not shown.</p>}
      {reads.length >= maxReads && <p class="muted">Times and counts are those of the last {count(maxReads)} reads; earlier ones are grey.</p>}
      {answer.dropped > 0 && <Alert kind="warning">The journal dropped {plural(answer.dropped, 'entry', 'entries')}: reads may be missing here. A larger --journal-size keeps more.</Alert>}
    </>
  );
}

export function ObjectRanges(props: { object: Object }) {
  const { object } = props;
  const { params } = useStore(route);
  const by = groupings.find((name) => name === params.get('by')) ?? 'connection';
  const shade: Shade = params.get('colour') === 'count' ? 'count' : 'time';
  const wantedText = params.get('wanted') ?? '';
  const { wanted, problem } = useMemo(() => parseWanted(wantedText), [wantedText]);
  const [paused, setPaused] = useState(false);
  const layout = useLoading((signal) => layoutOf(object, signal), [object.namespace, object.bucket, object.key]);
  const { answer, reads, problem: failure } = useReads(object, by, wanted, paused);
  return (
    <>
      <div class="view-head">
        <h1 class="wrap-anywhere">
          <a href={hashOf('ranges')}>Ranges</a> / {object.bucket} / <Name text={object.key} />
        </h1>
        <a class="button" href={hashOf('buckets', [object.bucket], [['prefix', object.key.slice(0, object.key.lastIndexOf('/') + 1)], ['key', object.key]])}>
          Show the object
        </a>
      </div>
      <Controls by={by} shade={shade} wanted={wantedText} problem={problem} paused={paused} onPause={setPaused} />
      {(failure || layout.problem) && <Alert kind="error">{failure || layout.problem}</Alert>}
      {!answer && !failure && <p class="muted">Loading …</p>}
      {answer && answer.fetched.length === 0 && <Alert kind="info">The journal has no read of this object. Reads appear here as they happen.</Alert>}
      {answer && <Shown object={object} answer={answer} reads={reads} layout={layout.value ?? noLayout} by={by} shade={shade} wanted={wanted} />}
    </>
  );
}
