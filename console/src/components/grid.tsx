// A table with virtual scrolling: only the rows in view are elements. It has a height of its own and scrolls inside.
//
// Keyboard: the table is one stop of Tab. Arrows, Page Up, Page Down, Home and End move the active row; Enter opens it, and
// Space chooses it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { assignElements } from '../lib/elements.ts';

export interface Column<Row> {
  id: string;
  title: string;
  width: string; // A track of CSS grid: `80px`, `minmax(120px, 1fr)`.
  end?: boolean; // Numbers.
  wideOnly?: boolean; // Left out where the table is narrower than 640 px.
  cell: (row: Row) => ComponentChildren;
  compare?: (a: Row, b: Row) => number; // The column can be sorted.
}

// An array, or rows that are made when they are shown.
export interface Rows<Row> {
  readonly length: number;
  at(index: number): Row | undefined;
  slice(begin: number, end: number): Row[];
}

export interface GridProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: Rows<Row>;
  rowKey: (row: Row) => string | number;
  onOpen?: (row: Row) => void;
  onMove?: (row: Row) => void; // The active row changed by a key.
  onToggle?: (row: Row) => void; // The space bar, for rows that can be chosen.
  onVisible?: (end: number) => void; // Rows up to `end` are shown, to load those that follow.
  selected?: string | number | null;
  empty?: ComponentChildren;
  reuse?: boolean; // Rows that leave give their elements to new ones. Only for cells without controls, which keep the focus.
  height?: string; // CSS; otherwise it fills its container.
  sort?: { column: string; descending: boolean }; // The first order; otherwise that of `rows`.
}

export const rowHeight = 28; // --row
const narrowBelow = 640;
const spare = 8; // Rows above and below the visible ones.
const tallest = 15_000_000; // Pixels. Browsers limit the height of an element, Firefox to 17.8 million.

export function Grid<Row>(props: GridProps<Row>): JSX.Element {
  const id = useId();
  const element = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600, narrow: false });
  const [active, setActive] = useState(-1);
  const [sort, setSort] = useState(props.sort ?? null);
  const elements = useRef<ReadonlyMap<string | number, number>>(new Map());

  const columns = view.narrow ? props.columns.filter((column) => !column.wideOnly) : props.columns;
  const rows = useMemo(() => {
    const compare = sort && props.columns.find((column) => column.id === sort.column)?.compare;
    if (!compare) return props.rows;
    const sign = sort.descending ? -1 : 1;
    return props.rows.slice(0, props.rows.length).sort((a, b) => sign * compare(a, b));
  }, [props.rows, props.columns, sort]);

  useLayoutEffect(() => {
    const grid = element.current!;
    const measure = () => setView((old) => ({ ...old, height: grid.clientHeight, narrow: grid.clientWidth < narrowBelow }));
    const observer = new ResizeObserver(measure);
    observer.observe(grid);
    measure();
    return () => observer.disconnect();
  }, []);

  useRowsAbove(element, rows, props.rowKey, setActive);

  // A pixel of a taller table is less than a pixel of the scroll bar.
  const height = Math.min(tallest, rows.length * rowHeight);
  const ratio = height < tallest ? 1 : (rows.length * rowHeight - view.height) / (height - view.height);
  const shift = view.top * (ratio - 1);
  const first = Math.max(0, Math.floor((view.top + shift) / rowHeight) - spare);
  const end = Math.min(rows.length, Math.ceil((view.top + shift + view.height) / rowHeight) + spare);

  const visible = rows.slice(first, end);
  if (props.reuse) elements.current = assignElements(elements.current, visible.map(props.rowKey));

  useEffect(() => props.onVisible?.(end), [end, rows]);

  const move = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setActive(next);
    props.onMove?.(rows.at(next)!);
    const grid = element.current!;
    const top = next * rowHeight;
    if (top < grid.scrollTop * ratio) grid.scrollTop = top / ratio;
    else if (top + 2 * rowHeight > grid.scrollTop * ratio + grid.clientHeight) grid.scrollTop = (top + 2 * rowHeight - grid.clientHeight) / ratio;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== element.current || rows.length === 0) return; // A button of the head.
    const page = Math.max(1, Math.floor(view.height / rowHeight) - 2);
    const targets: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: rows.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) move(target);
    else if (event.key === ' ' && active >= 0 && props.onToggle) props.onToggle(rows.at(active)!);
    else if ((event.key === 'Enter' || event.key === ' ') && active >= 0 && props.onOpen) props.onOpen(rows.at(active)!);
    else return;
    event.preventDefault();
  };
  const toggleSort = (column: Column<Row>) =>
    setSort(sort?.column === column.id ? { column: column.id, descending: !sort.descending } : { column: column.id, descending: false });

  return (
    <div
      ref={element}
      class={`grid ${props.onOpen ? 'opens' : ''}`}
      style={{ height: props.height ?? '100%', '--columns': columns.map((column) => column.width).join(' ') }}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
      aria-activedescendant={active >= first && active < end ? `${id}-${active}` : undefined}
      tabIndex={0}
      onScroll={(event) => {
        const top = event.currentTarget.scrollTop;
        setView((old) => ({ ...old, top }));
      }}
      onKeyDown={onKeyDown}
    >
      <div class="grid-head" role="rowgroup">
        <div class="grid-row" role="row" aria-rowindex={1}>
          {columns.map((column) => (
            <div
              key={column.id}
              role="columnheader"
              class={column.end ? 'end' : ''}
              aria-sort={column.compare ? (sort?.column === column.id ? (sort.descending ? 'descending' : 'ascending') : 'none') : undefined}
            >
              {column.compare ? (
                <button type="button" onClick={() => toggleSort(column)}>
                  {column.title}
                </button>
              ) : (
                column.title
              )}
            </div>
          ))}
        </div>
      </div>
      {rows.length === 0 ? (
        <div role="rowgroup">
          <div role="row">
            <div role="gridcell" class="grid-empty">
              {props.empty ?? 'Nothing yet.'}
            </div>
          </div>
        </div>
      ) : (
        <div class="grid-body" role="rowgroup" style={{ height: `${height}px` }}>
          {visible.map((row, i) => {
            const index = first + i;
            const key = props.rowKey(row);
            return (
              <div
                key={elements.current.get(key) ?? key}
                id={`${id}-${index}`}
                class="grid-row"
                role="row"
                aria-rowindex={index + 2}
                aria-selected={props.onOpen ? key === props.selected : undefined}
                data-active={index === active ? '' : undefined}
                style={{ top: `${index * rowHeight - shift}px` }}
                onClick={() => {
                  setActive(index);
                  props.onOpen?.(row);
                }}
              >
                {columns.map((column) => (
                  <div key={column.id} role="gridcell" class={column.end ? 'end' : ''}>
                    {column.cell(row)}
                  </div>
                ))}
              </div>
            );
          })}
        </div>
      )}
    </div>
  );
}

// Keeps what is in view, and the active row, where they are when rows are added above, except at the top: there the new rows show.
function useRowsAbove<Row>(
  element: { readonly current: HTMLDivElement | null },
  rows: Rows<Row>,
  rowKey: (row: Row) => string | number,
  setActive: (change: (active: number) => number) => void,
): void {
  const top = useRef<string | number | null>(null);
  useLayoutEffect(() => {
    const previous = top.current;
    top.current = rows.length > 0 ? rowKey(rows.at(0)!) : null;
    if (previous === null || previous === top.current) return;
    let added = 0;
    while (added < rows.length && rowKey(rows.at(added)!) !== previous) added++;
    if (added === 0 || added === rows.length) return;
    setActive((active) => (active < 0 ? active : active + added));
    const grid = element.current!;
    if (grid.scrollTop >= rowHeight / 2) grid.scrollTop += added * rowHeight;
  }, [rows]);
}

// The value, updated at most once per `ms`: for tables that would otherwise be rendered at each keystroke or event.
export function useDelayed<T>(value: T, ms: number): T {
  const [delayed, setDelayed] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setDelayed(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return delayed;
}
