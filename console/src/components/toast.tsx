// Short messages about what the user just did. Errors stay until they are closed.
import { Store, useStore } from '../lib/store.ts';

interface Toast {
  id: number;
  kind: 'info' | 'error';
  text: string;
}

const toasts = new Store<readonly Toast[]>([]);
let last = 0;

function close(id: number): void {
  toasts.set(toasts.value.filter((toast) => toast.id !== id));
}

export function notify(kind: Toast['kind'], text: string): void {
  const id = ++last;
  toasts.set([...toasts.value.slice(-3), { id, kind, text }]);
  if (kind === 'info') setTimeout(() => close(id), 6_000);
}

export function Toasts() {
  const shown = useStore(toasts);
  const of = (kind: Toast['kind']) =>
    shown
      .filter((toast) => toast.kind === kind)
      .map((toast) => (
        <div class={`alert ${kind}`} key={toast.id}>
          <span>{toast.text}</span>
          <button type="button" class="button small" onClick={() => close(toast.id)}>
            Close
          </button>
        </div>
      ));
  // Both regions exist from the start: screen readers only announce changes in a region that they know.
  return (
    <div class="toasts">
      <div aria-live="assertive">{of('error')}</div>
      <div aria-live="polite">{of('info')}</div>
    </div>
  );
}
