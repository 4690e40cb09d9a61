// A value that components observe. One value, one list of listeners; no dependency on a component.
import { useEffect, useState } from 'preact/hooks';

export class Store<T> {
  #value: T;
  readonly #listeners = new Set<(value: T) => void>();

  constructor(value: T) {
    this.#value = value;
  }

  get value(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const listener of [...this.#listeners]) listener(value);
  }

  // Returns the function that ends the subscription.
  subscribe(listener: (value: T) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

// A component with `select`, which depends on nothing else, renders again only when what it selects changes.
export function useStore<T, S = T>(store: Store<T>, select: (value: T) => S = (value) => value as unknown as S): S {
  const [value, setValue] = useState<S>(() => select(store.value));
  useEffect(() => {
    const update = (next: T) => setValue(() => select(next));
    update(store.value); // It may have changed between the first render and this subscription.
    return store.subscribe(update);
  }, [store]);
  return value;
}
