// The rows of the requests view: entries, newest first, and gaps where the page did not fetch all of them. Pure.
import type { Entry } from '../lib/entry.ts';

export interface Gap {
  number: number; // Of the latest request before the gap's end.
  missed: number | null; // How many requests are not shown; null: not known, because of a filter.
}

export type Row = Entry | Gap;

export interface Answer {
  size: number; // Entries that the journal keeps, of all requests.
  dropped: number;
  last: number;
  generation: string;
  entries: readonly Entry[]; // Oldest first.
}

export interface Feed {
  rows: readonly Row[];
  last: number; // Later entries are new.
  generation: string;
  size: number;
}

export const emptyFeed: Feed = { rows: [], last: 0, generation: '', size: 0 };
export const perUpdate = 200;
export const mostRows = 50_000;

export const isGap = (row: Row): row is Gap => 'missed' in row;
export const rowKey = (row: Row): string | number => (isGap(row) ? `gap ${row.number}` : row.number);

// Adds the answer to a request for the newest `asked` entries after `feed.last`.
export function merge(feed: Feed, answer: Answer, asked: number, filtered: boolean): Feed {
  const { entries, last, generation, size } = answer;
  const known = feed.generation === generation ? feed : emptyFeed; // A reset starts another journal.
  const fresh: Row[] = [...entries].reverse();
  const before = entries[0]?.number ?? last + 1;
  if (known.rows.length > 0) {
    if (filtered) {
      if (entries.length >= asked) fresh.push({ number: before - 1, missed: null });
    } else {
      const missed = last - known.last - entries.length;
      if (missed > 0) fresh.push({ number: before - 1, missed });
    }
  }
  if (fresh.length === 0 && known === feed) return { ...feed, last, size };
  return { rows: [...fresh, ...known.rows].slice(0, mostRows), last, generation, size };
}
