// Where a file of the page could not be loaded. Browsers and Vite remember such a failure, so only a new page tries again.
import { useEffect, useRef } from 'preact/hooks';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import { Alert } from './basic.tsx';

export function NotLoaded(props: { problem: string }) {
  const { problem: disconnected } = useStore(live);
  const waits = useRef(false);
  useEffect(() => {
    // Not while connected: a file that is missing would make the page reload for ever.
    if (disconnected) waits.current = true;
    else if (waits.current) location.reload();
  }, [disconnected]);
  return (
    <Alert
      kind="error"
      action={
        <button type="button" class="button small" onClick={() => location.reload()}>
          Reload now
        </button>
      }
    >
      This part of the page could not be loaded: {props.problem}. {disconnected && 'The page reloads when the emulator responds again.'}
    </Alert>
  );
}
