// What the running scenario has done so far, or the last one that ran.
import { Alert, Badge, Panel, SimpleTable } from '../components/basic.tsx';
import { Name } from '../components/name.tsx';
import { count, plural } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { remainingText, ruleSummary, stateText, type FaultAccount } from '../lib/scenario.ts';
import type { Json, JsonObject } from '../lib/schema.ts';
import { hashOf } from '../router.ts';

function State(props: { account: { fired: number; complete: boolean }; incomplete: string }) {
  const { text, tone } = stateText(props.account, props.incomplete);
  return <Badge tone={tone}>{text}</Badge>;
}

function RuleTable(props: { account: FaultAccount; rules: readonly Json[] | null; ended: boolean }) {
  const { rules } = props;
  const rows = props.account.rules.map((account, index) => ({ account, rule: rules?.[index] }));
  return (
    <SimpleTable
      label={props.ended ? 'Rules of the scenario that ended' : 'Rules of the running scenario'}
      rows={rows}
      rowKey={(row) => row.account.id}
      columns={[
        {
          title: 'Rule',
          cell: (row) => (
            <a href={hashOf('requests', [], [['fault', row.account.id]])} title={row.rule === undefined ? 'Its requests' : visibleText(ruleSummary(row.rule))}>
              <Name text={row.account.id} title={visibleText(row.rule === undefined ? row.account.id : ruleSummary(row.rule))} />
            </a>
          ),
        },
        { title: 'Matched', end: true, cell: (row) => count(row.account.matched) },
        { title: 'Fired', end: true, cell: (row) => count(row.account.fired) },
        { title: 'Under way', end: true, cell: (row) => count(row.account.under_way) },
        { title: 'Remaining', end: true, cell: (row) => remainingText(row.rule, row.account) },
        {
          title: 'State',
          cell: (row) => <State account={row.account} incomplete={props.ended ? 'did not fire enough' : 'must still fire'} />,
        },
      ]}
    />
  );
}

export function AccountPanel(props: {
  account: FaultAccount | null; // Of the running scenario; without one, of the last one.
  active: boolean;
  scenario: JsonObject | null; // That of the account, with its rules.
  onForget: () => void;
  onEdit: (scenario: JsonObject) => void;
}) {
  const { account, scenario } = props;
  if (!account) {
    return (
      <Panel title="What fired">
        <p class="muted">{props.active ? 'Loading …' : 'No scenario runs. Start a named one below, or one of your own.'}</p>
      </Panel>
    );
  }
  const replaced = account.replaced ?? [];
  const ended = !props.active;
  return (
    <Panel
      title={account.name ? `What fired: ${visibleText(account.name)}` : 'What fired'}
      flush
      actions={
        scenario && (
          <button type="button" class="button small" onClick={() => props.onEdit(scenario)}>
            Edit
          </button>
        )
      }
    >
      {ended && <p class="faults-note muted">No scenario runs. This one has ended; these are the last numbers that this page read.</p>}
      <div class="faults-summary">
        <State account={account} incomplete="not complete" />
        <span class="numbers">
          {plural(account.fired, 'fault', 'faults')} in {plural(account.requests, 'request', 'requests')}
        </span>
        <span class="muted numbers">seed {account.seed}</span>
      </div>
      <RuleTable account={account} rules={scenario ? (scenario['rules'] as readonly Json[]) : null} ended={ended} />
      {replaced.length > 0 && !ended && (
        <div class="faults-note">
          <Alert
            kind="info"
            action={
              <button type="button" class="button small" onClick={props.onForget}>
                Turn off and forget
              </button>
            }
          >
            {plural(replaced.length, 'earlier scenario', 'earlier scenarios')} ended before every rule had fired. Checks at the end of a test report that.
          </Alert>
        </div>
      )}
    </Panel>
  );
}
