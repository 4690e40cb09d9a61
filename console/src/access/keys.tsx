// Access keys: their state, new ones, and how to disable or delete them.
import { useState } from 'preact/hooks';
import { sendJson } from '../api.ts';
import { Alert, Badge, Check, CopyButton, Field, Members, Panel, SimpleTable } from '../components/basic.tsx';
import { Confirmation, Dialog } from '../components/dialog.tsx';
import { Name } from '../components/name.tsx';
import { notify } from '../components/toast.tsx';
import { keysOf, keyState, withKey, type Account, type KeyRow } from '../lib/access.ts';
import { dateTime } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { useStore } from '../lib/store.ts';
import { live } from '../live.ts';
import { useAction } from '../polling.ts';

interface NewKey {
  access_key_id: string;
  secret_access_key: string;
  namespace: string;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'; // 32, so that each byte selects one without bias.

function random(length: number): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(length)), (byte) => letters[byte % letters.length]).join('');
}

function Made(props: { made: NewKey }) {
  const { made } = props;
  const text = () => `export AWS_ACCESS_KEY_ID=${made.access_key_id}\nexport AWS_SECRET_ACCESS_KEY=${made.secret_access_key}\n`;
  return (
    <div class="form">
      <Alert kind="warning">The secret is shown only once.</Alert>
      <Members
        items={[
          ['Namespace', made.namespace],
          ['Access key', <code>{made.access_key_id}</code>],
          ['Secret', <code>{made.secret_access_key}</code>],
        ]}
      />
      <div class="form-actions">
        <CopyButton label="Copy as environment variables" text={text} class="button" />
      </div>
    </div>
  );
}

// 'ACCOUNT' or 'ACCOUNT USER', as values of the list of holders.
const holderValue = (account: Account, user = '') => `${account.account_id} ${user}`;

function CreateForm(props: { space: string; accounts: readonly Account[]; onMade: (made: NewKey) => void }) {
  const [holder, setHolder] = useState('');
  const [name, setName] = useState('');
  const action = useAction();
  const create = () =>
    action.run(async () => {
      if (holder === '') {
        const { name: namespace, ...key } = await sendJson<{ name: string; access_key_id: string; secret_access_key: string }>('POST', 'namespaces', { name });
        props.onMade({ ...key, namespace });
        return;
      }
      const [accountId, user = ''] = holder.split(' ');
      const account = props.accounts.find((one) => one.account_id === accountId)!;
      const key = { access_key_id: `PSK${random(17)}`, secret_access_key: random(40), namespace: props.space };
      await sendJson('POST', 'users', withKey(account, user, key));
      props.onMade(key);
    });
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <Field label="For">
        {(attributes) => (
          <select {...attributes} value={holder} onChange={(event) => setHolder(event.currentTarget.value)}>
            <option value="">a new namespace, with an account of its own</option>
            {props.accounts.flatMap((account) => [
              <option key={holderValue(account)} value={holderValue(account)}>
                {visibleText(account.display_name)}: root
              </option>,
              ...account.users.map((user) => (
                <option key={holderValue(account, user.name)} value={holderValue(account, user.name)}>
                  {visibleText(account.display_name)}: {visibleText(user.name)}
                </option>
              )),
            ])}
          </select>
        )}
      </Field>
      {holder === '' ? (
        <Field label="Name of the namespace" hint="1 to 63 letters, digits, '-', '_' and '.'">
          {(attributes) => <input {...attributes} required maxLength={63} value={name} onInput={(event) => setName(event.currentTarget.value)} />}
        </Field>
      ) : (
        <p class="muted">The key selects the namespace {props.space}.</p>
      )}
      {action.problem && <Alert kind="error">{action.problem}</Alert>}
      <div class="form-actions">
        <button type="submit" class="button primary" disabled={action.busy}>
          Create
        </button>
      </div>
    </form>
  );
}

function CreateDialog(props: { space: string; accounts: readonly Account[]; onClose: () => void; onChange: () => void }) {
  const [made, setMade] = useState<NewKey | null>(null);
  return (
    <Dialog title={made ? 'New access key' : 'Create an access key'} onClose={props.onClose}>
      {made ? (
        <Made made={made} />
      ) : (
        <CreateForm
          space={props.space}
          accounts={props.accounts}
          onMade={(key) => {
            setMade(key);
            props.onChange();
          }}
        />
      )}
    </Dialog>
  );
}

const tones = { active: 'ok', disabled: 'error', expired: 'warning' } as const;

export function KeysPanel(props: { space: string; accounts: readonly Account[]; onChange: () => void }) {
  const [all, setAll] = useState(false);
  const [creating, setCreating] = useState(false);
  const [asked, setAsked] = useState<{ key: KeyRow; remove: boolean } | null>(null);
  const now = useStore(live).latest?.namespace.clock.now ?? '';
  const action = useAction();
  const path = (key: KeyRow) => `access-keys/${encodeURIComponent(key.access_key_id)}`;
  const rows = keysOf(props.accounts).filter((key) => all || key.namespace === props.space);

  const change = async (key: KeyRow, done: string, work: () => Promise<unknown>) => {
    const ok = await action.run(work);
    setAsked(null);
    if (ok) notify('info', `The key ${visibleText(key.access_key_id)} was ${done}.`);
    props.onChange();
  };
  const setActive = (key: KeyRow, active: boolean) => change(key, active ? 'enabled' : 'disabled', () => sendJson('PATCH', path(key), { active }));
  const remove = (key: KeyRow) => change(key, 'deleted', () => sendJson('DELETE', path(key)));
  const buttons = (key: KeyRow) => (
    <span class="key-actions">
      <button type="button" class="button small" disabled={action.busy} onClick={() => (key.active ? setAsked({ key, remove: false }) : void setActive(key, true))}>
        {key.active ? 'Disable' : 'Enable'}
        <span class="visually-hidden"> {visibleText(key.access_key_id)}</span>
      </button>
      <button type="button" class="button small danger" disabled={action.busy} onClick={() => setAsked({ key, remove: true })}>
        Delete<span class="visually-hidden"> {visibleText(key.access_key_id)}</span>
      </button>
    </span>
  );
  return (
    <Panel
      title="Access keys"
      flush
      actions={
        <>
          <Check label="All namespaces" checked={all} onChange={setAll} />
          <button type="button" class="button small primary" onClick={() => setCreating(true)}>
            Create a key
          </button>
        </>
      }
    >
      {action.problem && <Alert kind="error">{action.problem}</Alert>}
      <SimpleTable
        label="List of access keys"
        rows={rows}
        rowKey={(key) => key.access_key_id}
        empty={`The namespace ${props.space} has no access key.`}
        columns={[
          { title: 'Access key', cell: (key) => <code><Name text={key.access_key_id} /></code> },
          { title: 'State', cell: (key) => <Badge tone={tones[keyState(key, now)]}>{keyState(key, now)}</Badge> },
          { title: 'Holder', cell: (key) => <Name text={key.holder} /> },
          { title: 'Account', cell: (key) => <Name text={key.account.display_name} title={key.account.account_id} /> },
          { title: 'Namespace', cell: (key) => key.namespace },
          { title: 'Expires', cell: (key) => (key.expires ? dateTime(key.expires) : '–') },
          { title: 'Actions', cell: buttons },
        ]}
      />
      {creating && <CreateDialog space={props.space} accounts={props.accounts} onClose={() => setCreating(false)} onChange={props.onChange} />}
      {asked && (
        <Confirmation
          title={`${asked.remove ? 'Delete' : 'Disable'} ${visibleText(asked.key.access_key_id)}?`}
          action={asked.remove ? 'Delete the key' : 'Disable the key'}
          busy={action.busy}
          onClose={() => setAsked(null)}
          onConfirm={() => void (asked.remove ? remove(asked.key) : setActive(asked.key, false))}
        >
          Requests with this key will get 403 InvalidAccessKeyId. {asked.remove ? 'Its secret cannot be read again.' : 'You can enable it again.'}
        </Confirmation>
      )}
    </Panel>
  );
}
