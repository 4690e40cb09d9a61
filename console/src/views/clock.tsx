// The namespace's clock, and what follows from its time: lifecycle actions and events.
import { useState } from 'preact/hooks';
import { useStore } from '../lib/store.ts';
import { live, namespace } from '../live.ts';
import { ClockPanel } from '../clock/clock.tsx';
import { EventsPanel } from '../clock/events.tsx';
import { LifecyclePanel } from '../clock/lifecycle.tsx';
import './clock.css';

export default function ClockView() {
  const space = useStore(namespace);
  const clock = useStore(live).latest?.namespace.clock ?? null;
  const [changes, setChanges] = useState(0); // A changed clock may have run lifecycle rules.
  return (
    <>
      <h1>Clock and lifecycle</h1>
      <ClockPanel space={space} live={clock} onChange={() => setChanges((n) => n + 1)} />
      <div class="clock-columns">
        <LifecyclePanel space={space} clock={clock} changes={changes} />
        <EventsPanel space={space} />
      </div>
    </>
  );
}
