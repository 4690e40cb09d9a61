// Who may do what: explanations of denials, access keys, users, groups and roles.
import { getJson } from '../api.ts';
import { Alert } from '../components/basic.tsx';
import type { Account } from '../lib/access.ts';
import { useStore } from '../lib/store.ts';
import { namespace } from '../live.ts';
import { usePolled } from '../polling.ts';
import { EntitiesPanel } from '../access/entities.tsx';
import { ExplainPanel } from '../access/explain.tsx';
import { KeysPanel } from '../access/keys.tsx';
import './access.css';

export default function Access() {
  const space = useStore(namespace);
  const polled = usePolled((signal) => getJson<{ accounts: Account[] }>('users', {}, signal), 5_000, 'users');
  const accounts = polled.value?.accounts ?? null;
  return (
    <>
      <h1>Access</h1>
      {polled.problem && <Alert kind="error">{polled.problem}</Alert>}
      {accounts && (
        <>
          <ExplainPanel space={space} accounts={accounts} />
          <KeysPanel space={space} accounts={accounts} onChange={polled.refresh} />
          <EntitiesPanel accounts={accounts} />
        </>
      )}
    </>
  );
}
