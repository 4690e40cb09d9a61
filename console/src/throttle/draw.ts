// Draws the heat map of partitions on a canvas.
import { timeOfDay } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { largestRate, rowsOf, type Cell, type HeatColumn } from '../lib/partitions.ts';
import { tokenColour } from '../theme.ts';

export interface Plot {
  left: number; // CSS pixels.
  width: number;
  height: number; // Without the time axis.
  rows: readonly string[];
  from: number; // Seconds.
  to: number;
}

export const axisHeight = 20;

export function plotOf(columns: readonly HeatColumn[], width: number, height: number, seconds: number): Plot {
  const left = Math.round(Math.min(132, width * 0.2));
  const to = columns.at(-1)?.to ?? 0;
  // A minute at first, then everything up to `seconds`.
  const from = Math.max(to - seconds, Math.min(columns[0]?.from ?? to, to - 60));
  return { left, width: Math.max(1, width - left), height: height - axisHeight, rows: rowsOf(columns), from, to };
}

export const xOf = (plot: Plot, time: number) => plot.left + (plot.width * (time - plot.from)) / (plot.to - plot.from);

const rowHeightOf = (plot: Plot) => plot.height / plot.rows.length;

// The rows of a cell, [first, end).
function spanOf(index: ReadonlyMap<string, number>, cell: Cell, rows: number): [number, number] {
  return [index.get(cell.begin) ?? 0, cell.end === '' ? rows : (index.get(cell.end) ?? rows)];
}

const indexOf = (plot: Plot) => new Map(plot.rows.map((begin, i) => [begin, i]));

// The column and the cell at a point of the canvas.
export function hit(plot: Plot, columns: readonly HeatColumn[], x: number, y: number): { column: HeatColumn; cell: Cell } | null {
  const time = plot.from + ((x - plot.left) / plot.width) * (plot.to - plot.from);
  const column = columns.find((one) => time >= one.from && time < one.to);
  if (!column) return null;
  const row = Math.floor(y / rowHeightOf(plot));
  const index = indexOf(plot);
  const cell = column.cells.find((one) => {
    const [first, end] = spanOf(index, one, plot.rows.length);
    return row >= first && row < end;
  });
  return cell ? { column, cell } : null;
}

interface Colours {
  empty: number[];
  full: number[];
  refused: string;
  split: string;
  merge: string;
  text: string;
  line: string;
}

const channels = (token: string) => (tokenColour(token).match(/[\d.]+/g) ?? []).slice(0, 3).map(Number);

function coloursNow(): Colours {
  return {
    empty: channels('--surface-3'),
    full: channels('--series-1'),
    refused: tokenColour('--error'),
    split: tokenColour('--series-2'),
    merge: tokenColour('--series-4'),
    text: tokenColour('--text-muted'),
    line: tokenColour('--surface'),
  };
}

// Equal steps of the square root: a partition with a tenth of the largest rate is still visible.
function shade(colours: Colours, share: number): string {
  const at = Math.sqrt(Math.min(1, share));
  return `rgb(${colours.empty.map((low, i) => Math.round(low + (colours.full[i]! - low) * at)).join(' ')})`;
}

function drawCells(context: CanvasRenderingContext2D, plot: Plot, columns: readonly HeatColumn[], colours: Colours): void {
  const index = indexOf(plot);
  const height = rowHeightOf(plot);
  const most = largestRate(columns) || 1;
  for (const column of columns) {
    const left = Math.floor(xOf(plot, column.from));
    const width = Math.max(1, Math.ceil(xOf(plot, column.to)) - left);
    for (const cell of column.cells) {
      const [first, end] = spanOf(index, cell, plot.rows.length);
      const top = first * height;
      const tall = (end - first) * height;
      context.fillStyle = shade(colours, cell.rate / most);
      context.fillRect(left, top, width, tall);
      if (cell.refused > 0) {
        const part = Math.min(tall, Math.max(2, tall * cell.refused));
        context.fillStyle = colours.refused;
        context.fillRect(left, top + tall - part, width, part);
      }
      if (tall >= 5 && first > 0) {
        context.fillStyle = colours.line;
        context.fillRect(left, top, width, 1);
      }
    }
  }
}

function drawEvents(context: CanvasRenderingContext2D, plot: Plot, columns: readonly HeatColumn[], colours: Colours): void {
  const index = indexOf(plot);
  for (const column of columns) {
    for (const event of column.events) {
      const row = index.get(event.boundary);
      if (row === undefined) continue;
      const x = xOf(plot, column.from);
      const y = row * rowHeightOf(plot);
      context.beginPath();
      // A triangle that opens to the right for a split, and one that closes for a merge.
      const [point, base] = event.kind === 'split' ? [x - 5, x + 5] : [x + 5, x - 5];
      context.moveTo(point, y);
      context.lineTo(base, y - 6);
      context.lineTo(base, y + 6);
      context.closePath();
      context.fillStyle = event.kind === 'split' ? colours.split : colours.merge;
      context.fill();
      context.strokeStyle = colours.line;
      context.lineWidth = 1.5;
      context.stroke();
    }
  }
}

function fitted(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let end = text.length;
  // The end of a key differs from its neighbours more often than the start.
  while (end > 1 && context.measureText(`…${text.slice(-end)}`).width > width) end--;
  return `…${text.slice(-end)}`;
}

function drawLabels(context: CanvasRenderingContext2D, plot: Plot, colours: Colours): void {
  context.fillStyle = colours.text;
  context.font = '11px ui-monospace, monospace';
  context.textBaseline = 'top';
  let free = 0;
  plot.rows.forEach((begin, i) => {
    const y = i * rowHeightOf(plot);
    if (y < free) return;
    context.fillText(begin === '' ? '(first key)' : fitted(context, visibleText(begin), plot.left - 10), 2, y + 2);
    free = y + 15;
  });
  context.font = '11px system-ui, sans-serif';
  context.textAlign = 'center';
  const every = [10, 30, 60, 120].find((step) => (step / (plot.to - plot.from)) * plot.width >= 90) ?? 300;
  for (let time = Math.ceil(plot.from / every) * every; time <= plot.to; time += every) {
    const x = xOf(plot, time);
    if (x < plot.left + 26 || x > plot.left + plot.width - 26) continue; // Half of a label.
    context.fillText(timeOfDay(new Date(time * 1_000).toISOString()).slice(0, 8), x, plot.height + 5);
  }
  context.textAlign = 'start';
}

export function draw(canvas: HTMLCanvasElement, plot: Plot, columns: readonly HeatColumn[]): void {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round((plot.left + plot.width) * ratio);
  canvas.height = Math.round((plot.height + axisHeight) * ratio);
  const context = canvas.getContext('2d')!;
  context.scale(ratio, ratio);
  const colours = coloursNow();
  drawCells(context, plot, columns, colours);
  drawEvents(context, plot, columns, colours);
  drawLabels(context, plot, colours);
}
