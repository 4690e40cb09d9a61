// The parameters that views keep while others are shown, by namespace. They stay in memory, and an address is followed as it is.
import type { Params, Route } from './route.ts';

export class KeptParams {
  readonly #names: ReadonlyMap<string, readonly string[]>; // By view.
  readonly #kept = new Map<string, Params>();

  constructor(names: ReadonlyMap<string, readonly string[]>) {
    this.#names = names;
  }

  // Call with every route that is shown.
  keep({ view, params, namespace }: Route): void {
    const names = this.#names.get(view);
    if (names) this.#kept.set(`${view} ${namespace}`, [...params].filter(([name]) => names.includes(name)));
  }

  // What the tab of `view` has at this route: nothing if the view is shown, so that it leads to the start of its view.
  of(view: string, { view: shown, namespace }: Route): Params {
    return view === shown ? [] : (this.#kept.get(`${view} ${namespace}`) ?? []);
  }
}
