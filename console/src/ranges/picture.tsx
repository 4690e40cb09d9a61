// The picture with zoom and pan by mouse and keyboard. Tables beside it have the same numbers.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { count } from '../lib/format.ts';
import type { Item } from '../lib/formats/binary.ts';
import { visibleText } from '../lib/keys.ts';
import { useStore } from '../lib/store.ts';
import { darkness, tokenColour } from '../theme.ts';
import { axisHeight, draw, laneHeight, type Colours, type Lane, type Picture, type Shade } from './draw.ts';
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

// The window after a key, null for other keys.
function windowOfKey(key: string, window: Window, size: number): Window | null {
  const span = window.to - window.from;
  const middle = (window.from + window.to) / 2;
  switch (key) {
    case 'ArrowLeft':
      return pan(window, -span / 10, size);
    case 'ArrowRight':
      return pan(window, span / 10, size);
    case 'PageUp':
      return pan(window, -span, size);
    case 'PageDown':
      return pan(window, span, size);
    case '+':
    case '=':
      return zoom(window, middle, 0.5, size);
    case '-':
      return zoom(window, middle, 2, size);
    case '0':
      return { from: 0, to: size };
    case 'Home':
      return pan(window, -size, size);
    case 'End':
      return pan(window, size, size);
    default:
      return null;
  }
}

// Calls the handler of the latest rendering. Not passive: the page must not scroll as well.
function useWheel(box: { readonly current: HTMLElement | null }, handler: (event: WheelEvent) => void): void {
  const current = useRef(handler);
  current.current = handler;
  useEffect(() => {
    const listener = (event: WheelEvent) => current.current(event);
    const element = box.current!;
    element.addEventListener('wheel', listener, { passive: false });
    return () => element.removeEventListener('wheel', listener);
  }, []);
}

// Draws after each rendering.
function useCanvas(picture: Picture, width: number, height: number) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const dark = useStore(darkness);
  const colours = useMemo(coloursOf, [dark]);
  useEffect(() => {
    const element = canvas.current!;
    const ratio = devicePixelRatio || 1;
    element.width = Math.round(width * ratio);
    element.height = Math.round(height * ratio);
    const context = element.getContext('2d')!;
    context.scale(ratio, ratio);
    draw(context, picture, colours, width, height);
  });
  return canvas;
}

interface Pointer {
  at: number; // Byte.
  lane: number;
}

// Handlers that drag the window, and tell what is under the pointer.
function usePointer(props: PictureProps, gutter: number, width: number, byteAt: (x: number) => number) {
  const { window, size, onWindow } = props;
  const [pointer, setPointer] = useState<Pointer | null>(null);
  const drag = useRef<{ x: number; window: Window } | null>(null);
  const end = () => (drag.current = null);
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      drag.current = { x: event.clientX, window };
      (event.currentTarget as Element).setPointerCapture(event.pointerId);
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: () => setPointer(null),
    onPointerMove: (event: PointerEvent) => {
      if (drag.current) {
        const span = window.to - window.from;
        onWindow(pan(drag.current.window, ((drag.current.x - event.clientX) / Math.max(1, width - gutter)) * span, size));
        return;
      }
      const at = byteAt(event.offsetX);
      setPointer(event.offsetX >= gutter && at < size ? { at, lane: Math.floor((event.offsetY - axisHeight) / laneHeight) } : null);
    },
  };
  return { pointer, handlers };
}

function Readout(props: { lanes: readonly Lane[]; items: readonly Item[]; pointer: Pointer | null; window: Window; size: number; rows: string }) {
  const { pointer, window, size } = props;
  const shown = size === 0 ? 'No bytes' : `Bytes ${count(Math.floor(window.from))} to ${count(Math.max(0, Math.ceil(window.to) - 1))} of ${count(size)}`;
  return (
    <div class="toolbar range-readout">
      <span class="muted wrap-anywhere">{pointer ? readout(props.lanes[pointer.lane], props.items, pointer.at) : shown}</span>
      {props.rows && <span class="muted">{props.rows}</span>}
    </div>
  );
}

export function RangePicture(props: PictureProps) {
  const { window, size, onWindow, shade, times, maxCount } = props;
  const { box, width } = useWidth();
  const { lanes, top, groups, scroll } = useLanes(props.lanes);
  const gutter = width < 560 ? 84 : 150;
  const height = axisHeight + lanes.length * laneHeight;
  const span = window.to - window.from;
  const byteAt = (x: number) => window.from + ((x - gutter) / Math.max(1, width - gutter)) * span;
  const { pointer, handlers } = usePointer(props, gutter, width, byteAt);
  const canvas = useCanvas({ lanes, window, gutter, shade, times, maxCount, pointer: pointer?.at ?? null, activeLane: pointer?.lane ?? -1 }, width, height);

  useWheel(box, (event) => {
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      onWindow(pan(window, ((event.deltaX || event.deltaY) / Math.max(1, width)) * span, size));
    } else if (event.ctrlKey || event.metaKey || document.activeElement === box.current) {
      onWindow(zoom(window, byteAt(event.offsetX), 1.0015 ** event.deltaY, size));
    } else if (!scroll(Math.sign(event.deltaY))) {
      return;
    }
    event.preventDefault();
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const next = windowOfKey(event.key, window, size);
    if (next) onWindow(next);
    else if (event.key === 'ArrowUp') scroll(-1);
    else if (event.key === 'ArrowDown') scroll(1);
    else return;
    event.preventDefault();
  };
  const rows = groups > maxGroups ? `rows ${count(top + 1)} to ${count(top + maxGroups)} of ${count(groups)}` : '';
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
        onDblClick={(event) => onWindow(zoom(window, byteAt(event.offsetX), 0.25, size))}
        {...handlers}
      >
        <canvas ref={canvas} style={{ height: `${height}px` }} />
      </div>
      <Readout lanes={lanes} items={props.items} pointer={pointer} window={window} size={size} rows={rows} />
    </div>
  );
}
