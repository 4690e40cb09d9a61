// The result of a request that a component shows: loaded again when its dependencies change, and never out of order.
import { useEffect, useState } from 'preact/hooks';

export interface Loading<T> {
  value: T | null;
  problem: string;
  busy: boolean;
  reload: () => void;
}

// The value of the same dependencies stays while it is loaded again.
export function useLoading<T>(load: (signal: AbortSignal) => Promise<T>, dependencies: readonly unknown[]): Loading<T> {
  const [state, setState] = useState<{ value: T | null; problem: string; busy: boolean }>({ value: null, problem: '', busy: true });
  const [version, setVersion] = useState(0);
  useEffect(() => setState({ value: null, problem: '', busy: true }), dependencies);
  useEffect(() => {
    const controller = new AbortController();
    setState((old) => ({ ...old, busy: true }));
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, problem: '', busy: false });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setState({ value: null, problem: error instanceof Error ? error.message : String(error), busy: false });
      },
    );
    return () => controller.abort();
  }, [...dependencies, version]);
  return { ...state, reload: () => setVersion((old) => old + 1) };
}
