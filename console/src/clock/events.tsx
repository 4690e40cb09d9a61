// Events of the namespace's notification configurations, the latest first.
import { useEffect, useRef, useState } from 'preact/hooks';
import { getJson, inNamespace, sendJson } from '../api.ts';
import { Alert, Badge, Panel } from '../components/basic.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { plural, timeOfDay } from '../lib/format.ts';
import { visibleJson, visibleText } from '../lib/keys.ts';
import { changeOf } from '../lib/lifecycle.ts';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import { useAction, usePolled } from '../polling.ts';

const kept = 500;

interface Event {
  number: number;
  destination: string;
  delivered: boolean;
  message: unknown;
}

interface Page {
  last: number;
  events: readonly Event[];
}

interface State {
  last: number;
  events: readonly Event[]; // The newest first.
}

const columns: readonly Column<Event>[] = [
  { id: 'number', title: 'No.', width: '56px', end: true, cell: (event) => event.number },
  { id: 'time', title: 'Time (UTC)', width: '108px', wideOnly: true, cell: (event) => timeOfDay(changeOf(event.message).time) },
  { id: 'name', title: 'Event', width: 'minmax(110px, 1.2fr)', cell: (event) => changeOf(event.message).name },
  {
    id: 'key',
    title: 'Object',
    width: 'minmax(110px, 1.4fr)',
    cell: (event) => {
      const { bucket, key } = changeOf(event.message);
      return <Name text={`${bucket}/${key}`} />;
    },
  },
  {
    id: 'to',
    title: 'Destination',
    width: 'minmax(110px, 1.2fr)',
    wideOnly: true,
    cell: (event) => (
      <span>
        {event.delivered && <Badge tone="ok">delivered</Badge>} <Name text={event.destination.split(':').slice(2).join(':')} title={visibleText(event.destination)} />
      </span>
    ),
  },
];

async function readMore(path: string, old: State, signal: AbortSignal): Promise<State> {
  const page = await getJson<Page>(path, { after: old.last, newest: kept }, signal);
  if (page.events.length === 0) return old;
  return { last: page.last, events: [...page.events].reverse().concat(old.events).slice(0, kept) };
}

export function EventsPanel(props: { space: string }) {
  const path = inNamespace('events', props.space);
  const generation = useStore(live).latest?.namespace.journal?.generation ?? ''; // A reset changes it, and numbers events from 1 again.
  const key = `${path} ${generation}`;
  const state = useRef<State>({ last: 0, events: [] });
  const [shown, setShown] = useState<Event | null>(null);
  const action = useAction();
  useEffect(() => {
    state.current = { last: 0, events: [] };
  }, [key]);
  const polled = usePolled(async (signal) => (state.current = await readMore(path, state.current, signal)), 1_500, key);
  const events = polled.value?.events ?? [];
  const remove = () =>
    void action.run(async () => {
      await sendJson('DELETE', path, undefined, { through: state.current.last });
      state.current = { last: state.current.last, events: [] };
      polled.refresh();
    });
  return (
    <Panel
      title="Events"
      flush
      actions={
        <>
          {events.length > 0 && <span class="muted numbers">{plural(events.length, 'event', 'events')}</span>}
          <button type="button" class="button small" disabled={action.busy || events.length === 0} onClick={remove}>
            Remove all
          </button>
        </>
      }
    >
      {(polled.problem || action.problem) && <Alert kind="error">{polled.problem || action.problem}</Alert>}
      <Grid
        label="Events"
        columns={columns}
        rows={events}
        rowKey={(event) => event.number}
        height="336px"
        onOpen={setShown}
        empty="No events. Buckets with a notification configuration make them."
      />
      {shown && (
        <Dialog title={`Event ${shown.number}`} wide onClose={() => setShown(null)}>
          <p class="muted wrap-anywhere">{visibleText(shown.destination)}</p>
          <pre class="code-block" tabIndex={0}>
            {visibleJson(shown.message)}
          </pre>
        </Dialog>
      )}
    </Panel>
  );
}
