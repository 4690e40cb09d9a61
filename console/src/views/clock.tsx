// The namespace's clock, and what follows from its time: lifecycle actions and events.
import { useState } from 'preact/hooks';
import type { Clock } from '../lib/clock.ts';
import { useStore } from '../lib/store.ts';
import { live, type LiveState, namespace } from '../live.ts';
import { ClockPanel } from '../clock/clock.tsx';
import { EventsPanel } from '../clock/events.tsx';
import { LifecyclePanel } from '../clock/lifecycle.tsx';
import './clock.css';

const clockOf = ({ latest }: LiveState) => latest?.namespace.clock ?? null;

export default function ClockView() {
  const space = useStore(namespace);
  const latest = useStore(live, clockOf);
  const [changes, setChanges] = useState(0); // A changed clock may have run lifecycle rules.
  // The clock that this view has set, until the next live event.
  const [own, setOwn] = useState<{ clock: Clock; event: Clock | null } | null>(null);
  const clock = own && own.event === latest ? own.clock : latest;
  const change = (next: Clock) => {
    setOwn({ clock: next, event: clockOf(live.value) });
    setChanges((n) => n + 1);
  };
  return (
    <>
      <h1>Clock and lifecycle</h1>
      <ClockPanel space={space} live={latest} onChange={change} />
      <div class="clock-columns">
        <LifecyclePanel space={space} clock={clock} changes={changes} />
        <EventsPanel space={space} />
      </div>
    </>
  );
}
