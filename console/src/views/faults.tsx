// The fault scenario of the namespace: its account, the named scenarios, and an editor.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { getJson, inNamespace, messageOf, sendJson } from '../api.ts';
import { Alert, Badge, Panel } from '../components/basic.tsx';
import { notify } from '../components/toast.tsx';
import { withRules, type FaultAccount, type NamedScenario } from '../lib/scenario.ts';
import type { Json, JsonObject, Schema } from '../lib/schema.ts';
import { Store, useStore } from '../lib/store.ts';
import { live, namespace } from '../live.ts';
import { useAction, usePolled } from '../polling.ts';
import { AccountPanel } from '../faults/account.tsx';
import { ScenarioEditor } from '../faults/editor.tsx';
import { NamedScenarios } from '../faults/named.tsx';
import './faults.css';

const empty: JsonObject = { rules: [] };

// What the editors of this tab hold, by namespace.
const drafts = new Store<Readonly<Record<string, JsonObject>>>({});

// The account that was read last, by namespace. Without a scenario the emulator returns none.
const accounts = new Store<Readonly<Record<string, FaultAccount | null>>>({});

function keep(space: string, account: FaultAccount | null): void {
  accounts.set({ ...accounts.value, [space]: account });
}

interface Definitions {
  schema: Schema;
  named: readonly NamedScenario[];
}

async function loadDefinitions(): Promise<Definitions> {
  const [schema, { scenarios }] = await Promise.all([getJson<Schema>('schemas/faults'), getJson<{ scenarios: NamedScenario[] }>('scenarios')]);
  return { schema, named: scenarios };
}

export default function Faults() {
  const space = useStore(namespace);
  const active = useStore(live).latest?.namespace.faults_active ?? false;
  const draft = useStore(drafts)[space] ?? empty;
  const [definitions, setDefinitions] = useState<Definitions | null>(null);
  const [problem, setProblem] = useState('');
  const [selected, setSelected] = useState(0); // The rule that the editor shows.
  const start = useAction();
  const stop = useAction();
  const path = inNamespace('faults', space);
  const last = useStore(accounts)[space] ?? null;
  // Without a scenario the emulator answers 404. The live events say when there is one.
  const account = usePolled<FaultAccount | null>((signal) => (active ? getJson<FaultAccount>(path, {}, signal) : Promise.resolve(null)), 1_000, `${path} ${active}`);

  useEffect(() => {
    if (account.value) keep(space, account.value);
  }, [account.value]);
  useEffect(() => {
    loadDefinitions().then(setDefinitions, (error: unknown) => setProblem(messageOf(error)));
  }, []);

  const setDraft = (next: JsonObject) => {
    drafts.set({ ...drafts.value, [space]: next });
    start.clear();
  };
  const put = async (scenario: Json) => {
    const ok = await start.run(() => sendJson<FaultAccount>('PUT', path, scenario));
    if (!ok) return;
    account.refresh();
    notify('info', 'The scenario runs, with a new account.');
  };
  const end = async (forget: boolean) => {
    const ok = await stop.run(async () => {
      const final = forget ? null : await getJson<FaultAccount>(path);
      await sendJson('DELETE', path, undefined, forget ? { forget: true } : {});
      keep(space, final);
    });
    if (ok) account.refresh();
  };
  const edit = (scenario: Json) => {
    setDraft(withRules(scenario, definitions?.named ?? []));
    setSelected(0);
  };
  const shown = active ? account.value : last;
  const scenario = useMemo(
    () => (definitions && shown?.scenario !== undefined ? withRules(shown.scenario, definitions.named) : null),
    [definitions, shown],
  );
  const scenarioSchema = useMemo(() => definitions?.schema.$defs?.['scenario'], [definitions]);

  return (
    <>
      <div class="view-head">
        <h1>Faults</h1>
        <Badge tone={active ? 'warning' : 'neutral'}>{active ? 'on' : 'off'}</Badge>
        <button type="button" class="button" disabled={!active || stop.busy} onClick={() => void end(false)}>
          Turn off
        </button>
      </div>
      {(problem || stop.problem || account.problem) && <Alert kind="error">{problem || stop.problem || account.problem}</Alert>}
      {start.problem && <Alert kind="error">The scenario was not started: {start.problem}</Alert>}
      <div class="faults">
        <div class="faults-column">
          <AccountPanel account={shown} active={active} scenario={scenario} onForget={() => void end(true)} onEdit={edit} />
          {definitions && <NamedScenarios scenarios={definitions.named} busy={start.busy} onStart={(scenario) => void put(scenario)} onEdit={edit} />}
        </div>
        {definitions && scenarioSchema ? (
          <ScenarioEditor
            schema={definitions.schema}
            draft={draft}
            selected={selected}
            onSelect={setSelected}
            onChange={setDraft}
            problem={start.problem}
            busy={start.busy}
            active={active}
            onStart={() => void put(draft)}
          />
        ) : (
          !problem && (
            <Panel title="Scenario">
              <p class="muted">Loading …</p>
            </Panel>
          )
        )}
      </div>
    </>
  );
}
