// Requests by partition over time.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { number, percent, timeOfDay } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { largestRate, rangeText, type HeatColumn } from '../lib/partitions.ts';
import { useStore } from '../lib/store.ts';
import { darkness } from '../theme.ts';
import { draw, hit, plotOf, type Plot } from './draw.ts';

const height = 240;

function totalText(column: HeatColumn | undefined): string {
  if (!column) return 'The map begins with the next second.';
  const rate = column.cells.reduce((sum, cell) => sum + cell.rate, 0);
  const refused = column.cells.reduce((sum, cell) => sum + cell.rate * cell.refused, 0);
  return `Now: ${number(rate)} requests/s, ${number(refused)}/s refused`;
}

export function HeatMap(props: { columns: readonly HeatColumn[]; seconds: number; title: string }) {
  const { columns } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const plot = useRef<Plot | null>(null);
  const [width, setWidth] = useState(0);
  const [pointer, setPointer] = useState<{ x: number; y: number } | null>(null);
  const dark = useStore(darkness);

  useLayoutEffect(() => {
    const box = canvas.current!.parentElement!;
    const observer = new ResizeObserver(() => setWidth(box.clientWidth));
    observer.observe(box);
    setWidth(box.clientWidth);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (width === 0) return;
    plot.current = plotOf(columns, width, height, props.seconds);
    draw(canvas.current!, plot.current, columns);
  }, [columns, width, dark, props.seconds]);

  const found = pointer && plot.current ? hit(plot.current, columns, pointer.x, pointer.y) : null;
  const most = largestRate(columns);
  const text = found
    ? `${timeOfDay(new Date(found.column.to * 1_000).toISOString()).slice(0, 8)} UTC, ${visibleText(rangeText(found.cell.begin, found.cell.end))}: ` +
      `${number(found.cell.rate)} requests/s, ${percent(found.cell.refused)} refused`
    : totalText(columns.at(-1));
  return (
    <figure class="heat">
      <div class="heat-box" style={{ height: `${height}px` }}>
        <canvas
          ref={canvas}
          role="img"
          aria-label={`${props.title}. ${totalText(columns.at(-1))}. The table below has the numbers.`}
          onPointerMove={(event) => setPointer({ x: event.offsetX, y: event.offsetY })}
          onPointerLeave={() => setPointer(null)}
        />
      </div>
      <figcaption class="heat-legend">
        <span class="numbers heat-text">{text}</span>
        <span class="numbers">
          0 <span class="heat-ramp" /> {number(Math.max(1, most))} requests/s
        </span>
        <span>
          <span class="heat-key refused" /> share of 503
        </span>
        <span class="heat-split">
          <span aria-hidden="true">◀</span> split
        </span>
        <span class="heat-merge">
          <span aria-hidden="true">▶</span> merge
        </span>
      </figcaption>
    </figure>
  );
}
