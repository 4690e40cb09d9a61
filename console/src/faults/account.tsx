// What the running scenario has done so far.
import { Alert, Badge, Panel, SimpleTable } from '../components/basic.tsx';
import { count, plural } from '../lib/format.ts';
import { isAccountOf, remaining, ruleSummary, type FaultAccount, type RuleAccount } from '../lib/scenario.ts';
import type { Json, JsonObject } from '../lib/schema.ts';
import { hashOf } from '../router.ts';

function RuleTable(props: { account: FaultAccount; rules: readonly Json[] | null }) {
  const { rules } = props;
  const rows = props.account.rules.map((account, index) => ({ account, rule: rules?.[index] }));
  const left = (row: { account: RuleAccount; rule: Json | undefined }) => {
    const value = remaining(row.rule, row.account);
    if (value !== null) return count(value);
    return row.rule === undefined ? '–' : 'no limit';
  };
  return (
    <SimpleTable
      label="Rules of the running scenario"
      rows={rows}
      rowKey={(row) => row.account.id}
      columns={[
        {
          title: 'Rule',
          cell: (row) => (
            <a href={hashOf('requests', [], [['fault', row.account.id]])} title={row.rule === undefined ? 'Its requests' : ruleSummary(row.rule)}>
              {row.account.id}
            </a>
          ),
        },
        { title: 'Matched', end: true, cell: (row) => count(row.account.matched) },
        { title: 'Fired', end: true, cell: (row) => count(row.account.fired) },
        { title: 'Under way', end: true, cell: (row) => count(row.account.under_way) },
        { title: 'Remaining', end: true, cell: left },
        {
          title: 'State',
          cell: (row) => (row.account.complete ? <Badge tone="ok">complete</Badge> : <Badge tone="warning">must still fire</Badge>),
        },
      ]}
    />
  );
}

export function AccountPanel(props: {
  account: FaultAccount | null;
  active: boolean;
  started: JsonObject | null; // What this tab started last.
  onForget: () => void;
  onEdit: (scenario: JsonObject) => void;
}) {
  const { account, started } = props;
  if (!account) {
    return (
      <Panel title="What fired">
        <p class="muted">{props.active ? 'Loading …' : 'No scenario runs. Start a named one below, or one of your own.'}</p>
      </Panel>
    );
  }
  const known = started && isAccountOf(account, started) ? started : null;
  const replaced = account.replaced ?? [];
  return (
    <Panel
      title={account.name ? `What fired: ${account.name}` : 'What fired'}
      flush
      actions={
        known && (
          <button type="button" class="button small" onClick={() => props.onEdit(known)}>
            Edit
          </button>
        )
      }
    >
      <div class="faults-summary">
        <Badge tone={account.complete ? 'ok' : 'warning'}>{account.complete ? 'complete' : 'not complete'}</Badge>
        <span class="numbers">
          {plural(account.fired, 'fault', 'faults')} in {plural(account.requests, 'request', 'requests')}
        </span>
        <span class="muted numbers">seed {account.seed}</span>
      </div>
      <RuleTable account={account} rules={known ? (known['rules'] as readonly Json[]) : null} />
      {!known && <p class="faults-note muted">Another client started this scenario, so the limits of its rules are not known here.</p>}
      {replaced.length > 0 && (
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
