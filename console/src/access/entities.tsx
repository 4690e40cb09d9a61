// Users, groups, roles and managed policies, with their documents.
import { useState } from 'preact/hooks';
import { Badge, Panel, SimpleTable } from '../components/basic.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Name } from '../components/name.tsx';
import { entitiesOf, type Account, type EntityRow } from '../lib/access.ts';
import { visibleJson, visibleText } from '../lib/keys.ts';

interface Part {
  title: string;
  document: unknown;
}

// The documents of an entity, the ones that IAM shows on separate pages.
function partsOf(row: EntityRow): Part[] {
  const { holder } = row;
  return [
    ...(row.document === undefined ? [] : [{ title: 'Policy', document: row.document }]),
    ...(holder.trust_policy === undefined ? [] : [{ title: 'Trust policy', document: holder.trust_policy }]),
    ...(holder.inline_policies ?? []).map((policy) => ({ title: `Inline policy ${visibleText(policy.name)}`, document: policy.document })),
  ];
}

function policiesText(row: EntityRow): string {
  const names = [...(row.holder.inline_policies ?? []).map((policy) => policy.name), ...(row.holder.attached_policies ?? []).map((arn) => arn.replace(/^.*:policy\//, ''))];
  return names.join(', ') || '–';
}

function detailsText(row: EntityRow): string {
  const { groups, tags, permissions_boundary: boundary, max_session_duration: longest } = row.holder;
  const parts = [
    groups && groups.length > 0 ? `groups ${groups.join(', ')}` : '',
    boundary ? `boundary ${boundary.replace(/^.*:policy\//, '')}` : '',
    tags
      ? Object.entries(tags)
          .map(([name, value]) => `${name}=${value}`)
          .join(', ')
      : '',
    longest ? `sessions up to ${longest} s` : '',
  ];
  return parts.filter(Boolean).join('; ') || '–';
}

export function EntitiesPanel(props: { accounts: readonly Account[] }) {
  const [shown, setShown] = useState<EntityRow | null>(null);
  return (
    <Panel title="Users, groups, roles and policies" flush>
      <SimpleTable
        label="List of users, groups, roles and policies"
        rows={entitiesOf(props.accounts)}
        rowKey={(row) => row.arn}
        empty="Only roots of accounts. A users file, or POST /_penstock/users, adds users, groups and roles."
        columns={[
          { title: 'Name', cell: (row) => <Name text={row.holder.name} /> },
          { title: 'Kind', cell: (row) => <Badge>{row.kind}</Badge> },
          { title: 'Account', cell: (row) => <Name text={row.account.display_name} title={row.account.account_id} /> },
          { title: 'Policies', cell: (row) => <Name text={policiesText(row)} /> },
          { title: 'Details', cell: (row) => <Name text={detailsText(row)} /> },
          {
            title: 'Documents',
            cell: (row) => (
              <button type="button" class="button small" onClick={() => setShown(row)}>
                Show<span class="visually-hidden"> {visibleText(row.arn)}</span>
              </button>
            ),
          },
        ]}
      />
      {shown && (
        <Dialog title={`${shown.kind} ${visibleText(shown.holder.name)}`} wide onClose={() => setShown(null)}>
          <div class="form">
            <p class="mono wrap-anywhere">
              <Name text={shown.arn} />
            </p>
            {(shown.holder.attached_policies ?? []).map((arn) => (
              <p class="mono wrap-anywhere" key={arn}>
                attached: <Name text={arn} />
              </p>
            ))}
            {partsOf(shown).map((part) => (
              <div key={part.title}>
                <h3>{part.title}</h3>
                <pre class="code-block" tabIndex={0} aria-label={part.title}>
                  {visibleJson(part.document)}
                </pre>
              </div>
            ))}
            {partsOf(shown).length === 0 && <p class="muted">It has no document of its own.</p>}
          </div>
        </Dialog>
      )}
    </Panel>
  );
}
