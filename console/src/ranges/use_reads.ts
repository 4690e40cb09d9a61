// What the journal knows about the reads of one object, while it grows.
import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, inNamespace, isAbort, messageOf, send } from '../api.ts';
import type { Entry } from '../lib/entry.ts';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import type { Range } from './intervals.ts';
import { readOf, type Grouping, type RangesAnswer, type Read } from './reads.ts';

export const maxReads = 10_000;

export interface Reads {
  answer: RangesAnswer | null;
  reads: readonly Read[]; // The latest ones, in the order of the journal.
  problem: string;
}

export async function ask<T>(namespace: string, json: object, signal: AbortSignal): Promise<T> {
  return (await (await send(inNamespace('journal-query', namespace), { json, signal })).json()) as T;
}

interface Entries {
  entries: Entry[];
  generation: string;
}

export interface Object {
  namespace: string;
  bucket: string;
  key: string;
}

const none: Reads = { answer: null, reads: [], problem: '' };

// `known`: reads of an earlier call, of the same journal.
async function load(object: Object, by: Grouping, wanted: readonly Range[], known: Reads, signal: AbortSignal): Promise<Reads> {
  const filter = { bucket: object.bucket, key: object.key };
  const question = { question: 'ranges', filter, by, ...(wanted.length > 0 ? { wanted } : {}) };
  const answer = await ask<RangesAnswer>(object.namespace, question, signal);
  const before = known.answer?.generation === answer.generation ? known.reads : [];
  const after = before.at(-1)?.number ?? 0;
  const asked = { question: 'entries', newest: maxReads, filter: { ...filter, operations: ['GetObject'], ...(after > 0 ? { after } : {}) } };
  const { entries } = await ask<Entries>(object.namespace, asked, signal);
  const fresh = entries.map(readOf).filter((read) => read !== null);
  return { answer, reads: fresh.length > 0 || before.length === 0 ? [...before, ...fresh].slice(-maxReads) : before, problem: '' };
}

export function useReads(object: Object, by: Grouping, wanted: readonly Range[], paused: boolean): Reads {
  const journal = useStore(live).latest?.namespace.journal;
  const [state, setState] = useState(none);
  const current = useRef(none);
  const busy = useRef(false);
  const { namespace, bucket, key } = object;
  const identity = JSON.stringify([namespace, bucket, key]);
  const lastIdentity = useRef(identity);

  const stamp = paused ? 'paused' : `${journal?.generation ?? ''} ${journal?.last ?? 0}`;
  const question = JSON.stringify([identity, by, wanted]);
  const lastQuestion = useRef('');
  useEffect(() => {
    const changed = lastQuestion.current !== question;
    if (!changed && (busy.current || paused)) return;
    if (lastIdentity.current !== identity) current.current = none;
    lastIdentity.current = identity;
    lastQuestion.current = question;
    const asked = question;
    busy.current = true;
    load(object, by, wanted, current.current, new AbortController().signal)
      .then(
        (reads) => reads,
        (error: unknown) => (isAbort(error) ? null : { ...current.current, problem: error instanceof ApiError ? error.message : messageOf(error) }),
      )
      .then((reads) => {
        if (asked !== lastQuestion.current || !reads) return; // Another question was asked meanwhile.
        busy.current = false;
        current.current = reads;
        setState(reads);
      });
  }, [question, stamp]);
  return lastIdentity.current === identity ? state : none;
}
