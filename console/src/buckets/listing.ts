// A listing that is loaded page by page, as the user scrolls.
import { isAbort, messageOf } from '../api.ts';
import { Store } from '../lib/store.ts';
import { PackedRows, type RowsSnapshot } from '../lib/packed.ts';
import { listPacked, type ListOptions, type Query } from '../s3.ts';

export interface ListingState {
  rows: RowsSnapshot;
  complete: boolean;
  loading: boolean;
  all: boolean; // Loads all pages.
  problem: string;
}

const publishMs = 250; // While all pages are loaded.

export class Listing {
  readonly state = new Store<ListingState>({ rows: new PackedRows().snapshot(), complete: false, loading: false, all: false, problem: '' });
  readonly #load: (from: Query) => ReturnType<typeof listPacked>;
  readonly #controller = new AbortController();
  readonly #rows = new PackedRows();
  #next: Query | null = {};
  #all = false;

  constructor(namespace: string, bucket: string, options: ListOptions) {
    this.#load = (from) => listPacked(namespace, bucket, options, from, this.#controller.signal);
  }

  close(): void {
    this.#controller.abort();
  }

  // Loads the next page, unless one is being loaded.
  more(): void {
    if (!this.state.value.loading && this.#next) void this.#run();
  }

  loadAll(): void {
    this.#all = true;
    this.#publish();
    this.more();
  }

  pause(): void {
    this.#all = false;
    this.#publish();
  }

  #publish(loading = this.state.value.loading, problem = ''): void {
    const added = this.#rows.length !== this.state.value.rows.length;
    this.state.set({ rows: added ? this.#rows.snapshot() : this.state.value.rows, complete: this.#next === null, loading, all: this.#all, problem });
  }

  async #run(): Promise<void> {
    this.#publish(true);
    let shown = Date.now();
    try {
      do {
        const { page, next } = await this.#load(this.#next!);
        this.#rows.add(page);
        this.#next = next;
        if (this.#all && Date.now() - shown > publishMs) {
          this.#publish();
          shown = Date.now();
        }
      } while (this.#all && this.#next);
      this.#all = false;
      this.#publish(false);
    } catch (error) {
      this.#all = false;
      if (!isAbort(error)) this.#publish(false, messageOf(error));
    }
  }
}
