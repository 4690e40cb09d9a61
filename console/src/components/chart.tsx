// Line charts over time (uPlot), with the latest values as text and a table of the same numbers.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { timeOfDay } from '../lib/format.ts';
import { useStore } from '../lib/store.ts';
import { darkness, tokenColour } from '../theme.ts';
import { Panel, SimpleTable } from './basic.tsx';

export interface Series {
  name: string;
  token: string; // The colour: `--series-1`.
  values: readonly (number | null)[];
  fill?: boolean;
}

export interface ChartProps {
  title: string;
  times: readonly number[]; // Seconds since the epoch.
  series: readonly Series[];
  format: (value: number) => string;
  binary?: boolean; // The axis is divided at powers of two, for bytes.
  height?: number;
  limit?: number; // The end of the axis, where the data do not exceed it.
}

const shown = (format: (value: number) => string, value: number | null | undefined) =>
  value === null || value === undefined ? '–' : format(value);

const powersOfTwo = Array.from({ length: 60 }, (_, i) => 2 ** i);

// What there is, at least a minute.
function axisRange({ times }: ChartProps): uPlot.Range.MinMax {
  const end = times.at(-1) ?? 1;
  return [Math.min(times[0] ?? 0, end - 60), end];
}

function axis(format: (value: number) => string | null): uPlot.Axis {
  return {
    font: '11px system-ui, sans-serif',
    stroke: tokenColour('--text-muted'),
    grid: { stroke: tokenColour('--border'), width: 1 },
    ticks: { show: false },
    values: (_plot, splits) => splits.map((value) => format(value)),
  };
}

const utc = (seconds: number) => timeOfDay(new Date(seconds * 1_000).toISOString()).slice(0, 8);

function options(props: () => ChartProps, width: number, onIndex: (index: number | null) => void): uPlot.Options {
  const now = props();
  return {
    width,
    height: now.height ?? 150,
    padding: [8, 26, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: 'time' }, drag: { x: false, y: false }, points: { size: 6 }, y: false },
    scales: {
      x: { time: true, range: () => axisRange(props()) },
      y: { range: (_plot, _low, high) => [0, Math.max(high * 1.08, props().limit ?? 0) || 1] },
    },
    axes: [
      { ...axis(utc), space: 70, size: 24 },
      { ...axis((value) => now.format(value)), space: 34, size: 62, ...(now.binary ? { incrs: powersOfTwo } : {}) },
    ],
    series: [
      {},
      ...now.series.map((one) => {
        const stroke = tokenColour(one.token);
        const line: uPlot.Series = { label: one.name, stroke, width: 1.5, points: { show: false } };
        if (one.fill) line.fill = stroke.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.14)');
        return line;
      }),
    ],
    hooks: { setCursor: [(plot) => onIndex(plot.cursor.idx ?? null)] },
  };
}

const data = (props: ChartProps): uPlot.AlignedData => [[...props.times], ...props.series.map((one) => [...one.values])];

export function Chart(props: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const current = useRef(props);
  current.current = props;
  const [index, setIndex] = useState<number | null>(null);
  const dark = useStore(darkness);
  const names = props.series.map((one) => `${one.name} ${one.token}`).join('\n');

  useLayoutEffect(() => {
    const container = box.current!;
    const made = new uPlot(options(() => current.current, container.clientWidth, setIndex), data(current.current), container);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize({ width: container.clientWidth, height: current.current.height ?? 150 }));
    observer.observe(container);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [names, dark]);

  useEffect(() => plot.current?.setData(data(props)), [props.times, props.series]);

  const at = index !== null && index < props.times.length ? index : props.times.length - 1;
  const summary = props.series.map((one) => `${one.name} ${shown(props.format, one.values.at(-1))}`).join(', ');
  return (
    <figure>
      <ul class="chart-legend">
        {props.series.map((one) => (
          <li key={one.name}>
            <span class="swatch" style={{ background: `var(${one.token})` }} />
            <span class="muted">{one.name}</span>
            <span>{shown(props.format, one.values[at])}</span>
          </li>
        ))}
        {index !== null && props.times[at] !== undefined && <li class="muted">at {utc(props.times[at])} UTC</li>}
      </ul>
      <div class="chart" ref={box} role="img" aria-label={`${props.title}. Latest: ${summary || 'no data'}`} />
    </figure>
  );
}

// One row for each ten seconds, the latest first.
function ChartTable(props: ChartProps) {
  const rows: number[] = [];
  let next = Number.POSITIVE_INFINITY;
  for (let i = props.times.length - 1; i >= 0; i--) {
    if (props.times[i]! > next) continue;
    rows.push(i);
    next = props.times[i]! - 10;
  }
  return (
    <div class="chart-table" style={{ maxHeight: `${(props.height ?? 150) + 20}px` }}>
      <SimpleTable
        label={props.title}
        rows={rows}
        rowKey={(i) => props.times[i]!}
        columns={[
          { title: 'Time (UTC)', cell: (i) => utc(props.times[i]!) },
          ...props.series.map((one) => ({ title: one.name, end: true, cell: (i: number) => shown(props.format, one.values[i]) })),
        ]}
      />
    </div>
  );
}

export function ChartPanel(props: ChartProps) {
  const [table, setTable] = useState(false);
  return (
    <Panel
      title={props.title}
      actions={
        <button type="button" class="button small plain" aria-pressed={table} onClick={() => setTable(!table)}>
          Table<span class="visually-hidden">: {props.title}</span>
        </button>
      }
    >
      {table ? <ChartTable {...props} /> : <Chart {...props} />}
    </Panel>
  );
}
