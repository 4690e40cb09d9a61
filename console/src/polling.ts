// Reads that repeat while a view is shown, and actions of buttons.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { isAbort, messageOf } from './api.ts';

export interface Polled<T> {
  value: T | null; // The latest one.
  problem: string; // Of the latest attempt; '' after a success.
  refresh: () => void;
}

// Calls `load` at once and `ms` after each end of a call. A call that takes long makes the pause longer, and a hidden page pauses.
// A change of `key` starts again without a value. `load` may return null for "nothing yet".
export function usePolled<T>(load: (signal: AbortSignal) => Promise<T>, ms: number, key: string): Polled<T> {
  const [state, setState] = useState<{ key: string; value: T | null; problem: string }>({ key, value: null, problem: '' });
  const [round, setRound] = useState(0);
  const latest = useRef(load);
  latest.current = load;

  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const wait = (pause: number) => {
      timer = setTimeout(() => void run(), pause);
    };
    const run = async () => {
      if (document.hidden) return wait(1_000);
      const began = performance.now();
      try {
        const value = await latest.current(abort.signal);
        if (abort.signal.aborted) return;
        setState({ key, value, problem: '' });
      } catch (error) {
        if (abort.signal.aborted || isAbort(error)) return;
        setState((old) => ({ key, value: old.key === key ? old.value : null, problem: messageOf(error) }));
      }
      wait(Math.max(ms, 4 * (performance.now() - began)));
    };
    void run();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, ms, round]);

  const refresh = useCallback(() => setRound((n) => n + 1), []);
  return { value: state.key === key ? state.value : null, problem: state.problem, refresh };
}

export interface Action {
  busy: boolean;
  problem: string;
  run: (work: () => Promise<unknown>) => Promise<boolean>; // Resolves to whether it succeeded.
  clear: () => void;
}

// One request of a button at a time, with its error.
export function useAction(): Action {
  const [state, setState] = useState({ busy: false, problem: '' });
  const run = useCallback(async (work: () => Promise<unknown>) => {
    setState({ busy: true, problem: '' });
    try {
      await work();
      setState({ busy: false, problem: '' });
      return true;
    } catch (error) {
      setState({ busy: false, problem: messageOf(error) });
      return false;
    }
  }, []);
  const clear = useCallback(() => setState({ busy: false, problem: '' }), []);
  return { ...state, run, clear };
}
