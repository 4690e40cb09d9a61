// Compares key prefixes: the same job with each strategy, in the emulator's model of partitions.
import { useState } from 'preact/hooks';
import { sendJson } from '../api.ts';
import { Alert, Badge, Check, Field, Panel, SimpleTable } from '../components/basic.tsx';
import { count, duration } from '../lib/format.ts';
import { effective, presets, type LimitsDocument } from '../lib/limits.ts';
import { clients, jobOf, outcomeOf, prefixesOf, strategies, type Outcome, type Plan, type Report } from '../lib/simulation.ts';
import { useAction } from '../polling.ts';

const first = { ranks: 1_024, filesPerRank: 1, fileMebibytes: 1_024, warmPartitions: 16, startSpreadSeconds: 0 };

const fields: readonly { name: keyof typeof first; title: string; least: number; step: number }[] = [
  { name: 'ranks', title: 'Ranks', least: 1, step: 1 },
  { name: 'filesPerRank', title: 'Files per rank', least: 1, step: 1 },
  { name: 'fileMebibytes', title: 'File size, MiB', least: 0, step: 1 },
  { name: 'warmPartitions', title: 'Partitions before', least: 1, step: 1 },
  { name: 'startSpreadSeconds', title: 'Start within, s', least: 0, step: 0.1 },
];

function Bar(props: { value: number; most: number; text: string; kind: string }) {
  return (
    <span class="bar-cell">
      <span class="bar" aria-hidden="true">
        <span class={props.kind} style={{ width: `${props.most > 0 ? (100 * props.value) / props.most : 0}%` }} />
      </span>
      <span>{props.text}</span>
    </span>
  );
}

function Outcomes(props: { outcomes: readonly Outcome[] }) {
  const { outcomes } = props;
  const slowest = Math.max(...outcomes.map((one) => one.seconds));
  const refused = Math.max(...outcomes.map((one) => one.refused));
  return (
    <SimpleTable
      label="Outcome by prefix strategy"
      rows={outcomes}
      rowKey={(one) => one.strategy}
      columns={[
        { title: 'Strategy', cell: (one) => one.strategy },
        { title: 'Result', cell: (one) => <Badge tone={one.completed ? 'ok' : 'error'}>{one.completed ? 'completed' : 'failed'}</Badge> },
        { title: 'Time to finish', cell: (one) => <Bar value={one.seconds} most={slowest} text={duration(one.seconds)} kind="bar-accent" /> },
        { title: 'Refused (503)', cell: (one) => <Bar value={one.refused} most={refused} text={count(one.refused)} kind="bar-error" /> },
        { title: 'Requests', end: true, cell: (one) => count(one.requests) },
        { title: 'Retries', end: true, cell: (one) => count(one.retries) },
        { title: 'Ranks failed', end: true, cell: (one) => count(one.ranksFailed) },
        { title: 'Partitions', end: true, cell: (one) => count(one.partitions) },
      ]}
    />
  );
}

// Values that the namespace's limits have, as members of a job.
function limitsOf(choice: string, limits: LimitsDocument, bucket: string): Record<string, unknown> {
  return choice === 'namespace' ? { ...effective(limits, bucket) } : { limits: choice };
}

export function Simulation(props: { limits: LimitsDocument; bucket: string }) {
  const [numbers, setNumbers] = useState(first);
  const [operation, setOperation] = useState<Plan['operation']>('save');
  const [client, setClient] = useState<string>('standard');
  const [limits, setLimits] = useState('aws-standard');
  const [prefixes, setPrefixes] = useState('0 1 2 3 4 5 6 7 8 9 a b c d e f');
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(strategies));
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const action = useAction();
  const compare = () =>
    action.run(async () => {
      const plan: Plan = { ...numbers, operation, client, prefixes: prefixesOf(prefixes), limits: limitsOf(limits, props.limits, props.bucket) };
      const next: Outcome[] = [];
      setOutcomes([]);
      // One at a time: the emulator runs two, and other pages may compare too.
      for (const strategy of strategies) {
        if (!chosen.has(strategy)) continue;
        next.push(outcomeOf(await sendJson<Report>('POST', 'simulate', jobOf(plan, strategy))));
        setOutcomes([...next]);
      }
    });
  return (
    <Panel title="Compare key prefixes by simulation">
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void compare();
        }}
      >
        <div class="simulation-fields">
          <Field label="Job">
            {(attributes) => (
              <select {...attributes} value={operation} onChange={(event) => setOperation(event.currentTarget.value as Plan['operation'])}>
                <option value="save">save</option>
                <option value="load">load</option>
                <option value="list">list</option>
              </select>
            )}
          </Field>
          {fields.map(({ name, title, least, step }) => (
            <Field key={name} label={title}>
              {(attributes) => (
                <input
                  {...attributes}
                  type="number"
                  required
                  min={least}
                  step={step}
                  value={numbers[name]}
                  onInput={(event) => setNumbers({ ...numbers, [name]: event.currentTarget.valueAsNumber })}
                />
              )}
            </Field>
          ))}
          <Field label="Limits">
            {(attributes) => (
              <select {...attributes} value={limits} onChange={(event) => setLimits(event.currentTarget.value)}>
                {Object.keys(presets).map((name) => (
                  <option key={name}>{name}</option>
                ))}
                <option value="namespace">those of {props.bucket || 'this namespace'}</option>
              </select>
            )}
          </Field>
          <Field label="Client's retries">
            {(attributes) => (
              <select {...attributes} value={client} onChange={(event) => setClient(event.currentTarget.value)}>
                {clients.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            )}
          </Field>
          <Field label="Round-robin names">
            {(attributes) => <input {...attributes} spellcheck={false} value={prefixes} onInput={(event) => setPrefixes(event.currentTarget.value)} />}
          </Field>
        </div>
        <div class="toolbar">
          {strategies.map((name) => (
            <Check
              key={name}
              label={name}
              checked={chosen.has(name)}
              onChange={(checked) => setChosen(new Set(strategies.filter((one) => (one === name ? checked : chosen.has(one)))))}
            />
          ))}
          <button type="submit" class="button primary" disabled={action.busy || chosen.size === 0}>
            {action.busy ? 'Simulating …' : 'Compare'}
          </button>
        </div>
      </form>
      <div class="simulation-answer" aria-live="polite">
        {action.problem !== '' && <Alert kind="error">{action.problem}</Alert>}
        {outcomes.length > 0 && <Outcomes outcomes={outcomes} />}
      </div>
    </Panel>
  );
}
