// The picture with zoom and pan by mouse and keyboard. Tables beside it have the same numbers.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../lib/format.ts';
import type { Item } from '../lib/formats/binary.ts';
import { visibleText } from '../lib/keys.ts';
import { useStore } from '../lib/store.ts';
import { darkness, tokenColour } from '../theme.ts';
import { axisHeight, draw, laneHeight, type Colours, type Lane, type Shade } from './draw.ts';
import { firstAfter } from './intervals.ts';
import { pan, zoom, type Window } from './scale.ts';

const maxGroups = 24; // In view at a time.

function coloursOf(): Colours {
  return {
    surface: tokenColour('--surface-3'),
    border: tokenColour('--border'),
    text: tokenColour('--text'),
    muted: tokenColour('--text-muted'),
    neutral: tokenColour('--border-strong'),
    covered: tokenColour('--series-3'),
    overlap: tokenColour('--series-5'),
    wanted: tokenColour('--series-1'),
    overRead: tokenColour('--series-2'),
    items: tokenColour('--series-7'),
    otherItems: tokenColour('--border-strong'),
    low: tokenColour('--series-1'),
    high: tokenColour('--series-2'),
  };
}

interface PictureProps {
  label: string;
  lanes: readonly Lane[]; // Those of groups last.
  items: readonly Item[];
  size: number;
  window: Window;
  onWindow: (window: Window) => void;
  shade: Shade;
  times: readonly [number, number];
  maxCount: number;
}

// What is at a byte of a lane, as text.
function readout(lane: Lane | undefined, items: readonly Item[], at: number): string {
  const byte = Math.floor(at);
  const parts = [`Byte ${count(byte)}`];
  const item = items.find(({ begin, end }) => begin <= byte && byte < end);
  if (item) parts.push(`${visibleText(item.name)} (${item.detail}, bytes ${count(item.begin)} to ${count(item.end - 1)})`);
  if (lane?.kind === 'group') {
    const segment = lane.segments.find(({ begin, end }) => begin <= byte && byte < end);
    const known = segment ? `${segment.count === 1 ? 'once' : `${count(segment.count)} times`}, last at ${segment.last.toFixed(3)} s` : '';
    const range = lane.ranges[firstAfter(lane.ranges, byte)];
    parts.push(`${visibleText(lane.name)}: ${known ? `read ${known}` : range && range[0] <= byte ? 'read' : 'not read'}`);
  } else if (lane && lane.kind === 'ranges') {
    const range = lane.ranges[firstAfter(lane.ranges, byte)];
    parts.push(range && range[0] <= byte ? `${lane.name}: bytes ${count(range[0])} to ${count(range[1] - 1)}` : `${lane.name}: no`);
  }
  return parts.join(' · ');
}

// The lanes that fit, and the number of groups above them.
function useLanes(all: readonly Lane[]) {
  const fixed = all.filter(({ kind }) => kind !== 'group').length;
  const groups = all.length - fixed;
  const [first, setFirst] = useState(0);
  const top = Math.max(0, Math.min(first, groups - maxGroups));
  const lanes = useMemo(() => [...all.slice(0, fixed), ...all.slice(fixed + top, fixed + top + maxGroups)], [all, fixed, top]);
  const scroll = (by: number): boolean => {
    const next = Math.max(0, Math.min(groups - maxGroups, top + by));
    setFirst(next);
    return next !== top;
  };
  return { lanes, top, groups, scroll };
}

function useWidth() {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(600);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(box.current!.clientWidth));
    observer.observe(box.current!);
    setWidth(box.current!.clientWidth);
    return () => observer.disconnect();
  }, []);
  return { box, width };
}

export function RangePicture(props: PictureProps) {
  const { window, size, onWindow } = props;
  const { box, width } = useWidth();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { lanes, top, groups, scroll } = useLanes(props.lanes);
  const [pointer, setPointer] = useState<{ at: number; lane: number } | null>(null);
  const drag = useRef<{ x: number; window: Window } | null>(null);
  const dark = useStore(darkness);
  const colours = useMemo(coloursOf, [dark]);
  const gutter = width < 560 ? 84 : 150;
  const height = axisHeight + lanes.length * laneHeight;
  const span = window.to - window.from;
  const byteAt = (x: number) => window.from + ((x - gutter) / Math.max(1, width - gutter)) * span;

  useEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext('2d')!;
    context.scale(ratio, ratio);
    const { shade, times, maxCount } = props;
    draw(context, { lanes, window, gutter, shade, times, maxCount, pointer: pointer?.at ?? null, activeLane: pointer?.lane ?? -1 }, colours, width, height);
  });

  // Not passive: the page must not scroll as well.
  const onWheel = useRef((_event: WheelEvent) => {});
  onWheel.current = (event) => {
    const focused = document.activeElement === box.current;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      onWindow(pan(window, ((event.deltaX || event.deltaY) / Math.max(1, width)) * span, size));
    } else if (event.ctrlKey || event.metaKey || focused) {
      onWindow(zoom(window, byteAt(event.offsetX), 1.0015 ** event.deltaY, size));
    } else if (!scroll(Math.sign(event.deltaY))) {
      return;
    }
    event.preventDefault();
  };
  useEffect(() => {
    const listener = (event: WheelEvent) => onWheel.current(event);
    const element = box.current!;
    element.addEventListener('wheel', listener, { passive: false });
    return () => element.removeEventListener('wheel', listener);
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (window.from + window.to) / 2;
    const windows: Record<string, () => Window> = {
      ArrowLeft: () => pan(window, -span / 10, size),
      ArrowRight: () => pan(window, span / 10, size),
      PageUp: () => pan(window, -span, size),
      PageDown: () => pan(window, span, size),
      '+': () => zoom(window, middle, 0.5, size),
      '=': () => zoom(window, middle, 0.5, size),
      '-': () => zoom(window, middle, 2, size),
      '0': () => ({ from: 0, to: size }),
      Home: () => pan(window, -size, size),
      End: () => pan(window, size, size),
    };
    const next = windows[event.key];
    if (next) onWindow(next());
    else if (event.key === 'ArrowUp') scroll(-1);
    else if (event.key === 'ArrowDown') scroll(1);
    else return;
    event.preventDefault();
  };

  const onPointerMove = (event: PointerEvent) => {
    if (drag.current) {
      const moved = ((drag.current.x - event.clientX) / Math.max(1, width - gutter)) * span;
      onWindow(pan(drag.current.window, moved, size));
      return;
    }
    const at = byteAt(event.offsetX);
    setPointer(event.offsetX >= gutter && at < size ? { at, lane: Math.floor((event.offsetY - axisHeight) / laneHeight) } : null);
  };

  return (
    <div class="range-picture">
      <div
        ref={box}
        class="range-canvas"
        role="application"
        aria-roledescription="picture of byte ranges"
        aria-label={`${props.label}. Arrows move, plus and minus zoom, 0 shows all. The tables have the same numbers.`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          drag.current = { x: event.clientX, window };
          event.currentTarget.setPointerCapture(event.pointerId);
        }}
        onPointerUp={() => (drag.current = null)}
        onPointerCancel={() => (drag.current = null)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => setPointer(null)}
        onDblClick={(event) => onWindow(zoom(window, byteAt(event.offsetX), 0.25, size))}
      >
        <canvas ref={canvas} style={{ height: `${height}px` }} />
      </div>
      <div class="toolbar range-readout">
        <span class="muted wrap-anywhere">
          {pointer ? readout(lanes[pointer.lane], props.items, pointer.at) : `Bytes ${count(Math.floor(window.from))} to ${count(Math.max(0, Math.ceil(window.to) - 1))} of ${count(size)}`}
        </span>
        {groups > maxGroups && (
          <span class="muted">
            rows {count(top + 1)} to {count(top + maxGroups)} of {count(groups)}
          </span>
        )}
      </div>
    </div>
  );
}
