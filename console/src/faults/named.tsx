// The scenarios that the emulator brings, each started with one click.
import { useState } from 'preact/hooks';
import { Field, Panel } from '../components/basic.tsx';
import type { NamedScenario } from '../lib/scenario.ts';
import type { JsonObject } from '../lib/schema.ts';

export function NamedScenarios(props: {
  scenarios: readonly NamedScenario[];
  busy: boolean;
  onStart: (scenario: JsonObject) => void;
  onEdit: (scenario: JsonObject) => void;
}) {
  const [bucket, setBucket] = useState('');
  const [prefix, setPrefix] = useState('');
  const [seed, setSeed] = useState('');
  const scenarioOf = (name: string): JsonObject => ({
    scenario: name,
    ...(seed === '' ? {} : { seed: Number(seed) }),
    ...(bucket === '' ? {} : { bucket }),
    ...(prefix === '' ? {} : { key: { prefix } }),
  });
  return (
    <Panel title="Named scenarios" flush>
      <div class="named-scope">
        <Field label="Bucket">{(attributes) => <input {...attributes} value={bucket} placeholder="all" onInput={(event) => setBucket(event.currentTarget.value)} />}</Field>
        <Field label="Key prefix">{(attributes) => <input {...attributes} value={prefix} placeholder="all" onInput={(event) => setPrefix(event.currentTarget.value)} />}</Field>
        <Field label="Seed">
          {(attributes) => <input {...attributes} type="number" min={0} value={seed} placeholder="1" onInput={(event) => setSeed(event.currentTarget.value)} />}
        </Field>
      </div>
      <ul class="named-list">
        {props.scenarios.map((one) => (
          <li key={one.name}>
            <div>
              <h3>{one.name}</h3>
              <p class="muted">{one.about}</p>
            </div>
            <div class="named-actions">
              <button type="button" class="button small" disabled={props.busy} onClick={() => props.onStart(scenarioOf(one.name))}>
                Start<span class="visually-hidden"> {one.name}</span>
              </button>
              <button type="button" class="button small plain" onClick={() => props.onEdit(scenarioOf(one.name))}>
                Edit<span class="visually-hidden"> {one.name}</span>
              </button>
            </div>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
