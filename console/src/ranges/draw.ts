// Draws the picture of the ranges of one object on a canvas.
import { bytes, count } from '../lib/format.ts';
import { firstAfter, type Range } from './intervals.ts';
import type { Segment } from './reads.ts';
import { ticks, type Window } from './scale.ts';

export interface Lane {
  name: string;
  kind: 'items' | 'ranges' | 'group';
  colour: keyof Colours;
  ranges: readonly Range[];
  segments: readonly Segment[]; // Of a group, with times and counts.
}

export interface Colours {
  surface: string;
  border: string;
  text: string;
  muted: string;
  neutral: string;
  covered: string;
  overlap: string;
  wanted: string;
  overRead: string;
  items: string;
  otherItems: string;
  low: string;
  high: string;
}

export type Shade = 'time' | 'count';

export interface Picture {
  lanes: readonly Lane[];
  window: Window;
  gutter: number; // Pixels for the names.
  shade: Shade;
  times: readonly [number, number]; // Of all reads.
  maxCount: number;
  pointer: number | null; // The byte under the pointer.
  activeLane: number;
}

export const axisHeight = 20;
export const laneHeight = 20;

const numbersOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

// 32 colours from `low` to `high`.
export function shadesOf(low: string, high: string): string[] {
  const [from, to] = [numbersOf(low), numbersOf(high)];
  return Array.from({ length: 32 }, (_, i) => `rgb(${from.map((value, j) => Math.round(value + ((to[j]! - value) * i) / 31)).join(' ')})`);
}

function shadeOf(picture: Picture, segment: Segment): number {
  const { shade, times, maxCount } = picture;
  const share = shade === 'time' ? (segment.last - times[0]) / (times[1] - times[0] || 1) : (segment.count - 1) / Math.max(1, maxCount - 1);
  return Math.max(0, Math.min(31, Math.round(share * 31)));
}

class Painter {
  readonly #context: CanvasRenderingContext2D;
  readonly #picture: Picture;
  readonly #width: number;

  constructor(context: CanvasRenderingContext2D, picture: Picture, width: number) {
    this.#context = context;
    this.#picture = picture;
    this.#width = width;
  }

  x(at: number): number {
    const { window, gutter } = this.#picture;
    return gutter + ((at - window.from) / (window.to - window.from)) * (this.#width - gutter);
  }

  // A box of at least a pixel, within the picture.
  box(begin: number, end: number, y: number, height: number): void {
    const left = Math.max(this.#picture.gutter, this.x(begin));
    const right = Math.min(this.#width, this.x(end));
    if (right > this.#picture.gutter && left < this.#width) this.#context.fillRect(left, y, Math.max(1, right - left), height);
  }

  // Ranges that share a pixel are one box.
  ranges(ranges: readonly Range[], y: number, height: number): void {
    const { window } = this.#picture;
    const pixel = (window.to - window.from) / Math.max(1, this.#width - this.#picture.gutter);
    for (let i = firstAfter(ranges, window.from); i < ranges.length && ranges[i]![0] < window.to; i++) {
      const begin = ranges[i]![0];
      let end = ranges[i]![1];
      while (i + 1 < ranges.length && ranges[i + 1]![0] <= end + pixel / 2) end = ranges[++i]![1];
      this.box(begin, end, y, height);
    }
  }

  segments(segments: readonly Segment[], shades: readonly string[], y: number, height: number): void {
    const { window } = this.#picture;
    for (const segment of segments) {
      if (segment.end <= window.from) continue;
      if (segment.begin >= window.to) break;
      this.#context.fillStyle = shades[shadeOf(this.#picture, segment)]!;
      this.box(segment.begin, segment.end, y, height);
    }
  }

  // Neighbours have different colours.
  items(ranges: readonly Range[], colours: Colours, y: number, height: number): void {
    const { window } = this.#picture;
    for (let i = firstAfter(ranges, window.from); i < ranges.length && ranges[i]![0] < window.to; i++) {
      this.#context.fillStyle = i % 2 === 0 ? colours.items : colours.otherItems;
      this.box(ranges[i]![0], ranges[i]![1], y, height);
    }
  }
}

function offsetText(at: number, window: Window): string {
  return window.to - window.from < 2 ** 22 && at >= 2 ** 10 ? count(at) : bytes(at);
}

function drawAxis(context: CanvasRenderingContext2D, painter: Painter, picture: Picture, colours: Colours, width: number, height: number): void {
  context.textAlign = 'center';
  for (const at of ticks(picture.window, Math.max(2, (width - picture.gutter) / 110))) {
    const x = painter.x(at);
    if (x < picture.gutter) continue;
    context.fillStyle = colours.border;
    context.fillRect(x, axisHeight - 4, 1, height);
    context.fillStyle = colours.muted;
    const text = offsetText(at, picture.window);
    const half = context.measureText(text).width / 2;
    context.fillText(text, Math.max(picture.gutter + half, Math.min(width - half, x)), axisHeight / 2 - 2);
  }
  context.textAlign = 'start';
}

function drawName(context: CanvasRenderingContext2D, name: string, gutter: number, y: number): void {
  let text = name;
  const fits = (one: string) => context.measureText(one).width <= gutter - 10;
  if (!fits(text)) {
    while (text.length > 1 && !fits(`${text}…`)) text = text.slice(0, -1);
    text += '…';
  }
  context.fillText(text, 4, y + laneHeight / 2);
}

export function draw(context: CanvasRenderingContext2D, picture: Picture, colours: Colours, width: number, height: number): void {
  const painter = new Painter(context, picture, width);
  const shades = shadesOf(colours.low, colours.high);
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  drawAxis(context, painter, picture, colours, width, height);
  picture.lanes.forEach((lane, i) => {
    const y = axisHeight + i * laneHeight;
    if (i === picture.activeLane) {
      context.fillStyle = colours.surface;
      context.fillRect(0, y, width, laneHeight);
    }
    context.fillStyle = colours.text;
    drawName(context, lane.name, picture.gutter, y);
    const [top, inner] = [y + 3, laneHeight - 6];
    if (lane.kind === 'items') return painter.items(lane.ranges, colours, top, inner);
    context.fillStyle = colours[lane.colour];
    painter.ranges(lane.ranges, top, inner);
    if (lane.kind === 'group') painter.segments(lane.segments, shades, top, inner);
  });
  if (picture.pointer !== null) {
    context.fillStyle = colours.text;
    context.fillRect(painter.x(picture.pointer), axisHeight, 1, height);
  }
}
