// Explains why a request was denied: one of the journal, or a described one.
import { useEffect, useState } from 'preact/hooks';
import { getJson, inNamespace, s3Path, send } from '../api.ts';
import { Alert, Badge, Field, Members, Panel } from '../components/basic.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import {
  accountOf,
  actions,
  conditionKeys,
  decisionText,
  documentOf,
  principalsOf,
  questionQuery,
  refusalText,
  requesterText,
  statementOf,
  type Account,
  type Decision,
  type Explanation,
  type Question,
} from '../lib/access.ts';
import { timeOfDay } from '../lib/format.ts';
import { visibleJson, visibleText } from '../lib/keys.ts';
import type { Json } from '../lib/schema.ts';
import { useAction, usePolled } from '../polling.ts';

interface DeniedEntry {
  number: number;
  received: string;
  operation?: string;
  bucket?: string;
  key?: string;
  access_key?: string;
  request_id: string;
  error_code?: string;
  signature?: { verdict: string };
  faults?: string;
}

// What is explained: the answer, and what it is about.
interface Shown {
  explanation: Explanation;
  principal: string;
  denied: DeniedEntry | null; // Of the journal.
}

// The document of a decision's policy: from the users listing, or of a bucket.
function useStatement(space: string, accounts: readonly Account[], principal: string, decision: Decision): Json | undefined {
  const { policy = '', statement = -1 } = decision;
  const [bucketPolicy, setBucketPolicy] = useState<Json>();
  const bucket = policy.startsWith('bucket/') ? policy.slice('bucket/'.length) : '';
  useEffect(() => {
    setBucketPolicy(undefined);
    if (!bucket) return;
    send(`${s3Path(space, bucket)}?policy`)
      .then((response) => response.json())
      .then(
        (document: Json) => setBucketPolicy(document),
        () => {}, // The sentence names the statement; its text is an addition.
      );
  }, [space, bucket]);
  const document = bucket ? bucketPolicy : documentOf(policy, accounts, accountOf(principal, accounts));
  return statementOf(document, statement);
}

function DecisionCard(props: { space: string; accounts: readonly Account[]; principal: string; decision: Decision }) {
  const { decision } = props;
  const statement = useStatement(props.space, props.accounts, props.principal, decision);
  return (
    <li class="decision" data-allowed={String(decision.allowed)}>
      <p class="decision-head">
        <Badge tone={decision.allowed ? 'ok' : 'error'}>{decision.allowed ? 'allowed' : 'denied'}</Badge>
        <strong>{decision.action}</strong>
        <span class="mono wrap-anywhere">
          <Name text={decision.resource} />
        </span>
      </p>
      <p class="wrap-anywhere">{visibleText(decisionText(decision))}</p>
      {statement !== undefined && (
        <pre class="code-block" tabIndex={0} aria-label="The statement">
          {visibleJson(statement)}
        </pre>
      )}
    </li>
  );
}

function ExplanationText(props: { space: string; accounts: readonly Account[]; shown: Shown }) {
  const { explanation, principal, denied } = props.shown;
  return (
    <div class="explanation" role="region" aria-label="Explanation" aria-live="polite">
      {explanation.request_id && (
        <Members
          items={[
            ['Request', explanation.operation],
            ['Access key', <Name text={denied ? requesterText(denied) : explanation.access_key ?? ''} empty="unsigned" />],
            ['Status', explanation.status],
            ['Request id', explanation.request_id],
          ]}
        />
      )}
      {explanation.decisions.length === 0 && <Alert kind="info">{refusalText(denied?.error_code)}</Alert>}
      <ul>
        {explanation.decisions.map((decision, i) => (
          <DecisionCard key={i} space={props.space} accounts={props.accounts} principal={principal} decision={decision} />
        ))}
      </ul>
    </div>
  );
}

const columns: readonly Column<DeniedEntry>[] = [
  { id: 'time', title: 'Time (UTC)', width: '104px', cell: (entry) => timeOfDay(entry.received) },
  { id: 'operation', title: 'Operation', width: 'minmax(90px, 1fr)', cell: (entry) => entry.operation || '–' },
  { id: 'key', title: 'Object', width: 'minmax(100px, 2fr)', cell: (entry) => <Name text={`${entry.bucket ?? ''}/${entry.key ?? ''}`} /> },
  { id: 'access', title: 'Access key', width: 'minmax(80px, 1fr)', wideOnly: true, cell: (entry) => <Name text={requesterText(entry)} /> },
  { id: 'code', title: 'Error', width: 'minmax(90px, 1fr)', wideOnly: true, cell: (entry) => entry.error_code ?? '–' },
];

function DeniedRequests(props: { space: string; selected: string; onSelect: (entry: DeniedEntry) => void }) {
  const path = inNamespace('journal', props.space);
  const polled = usePolled((signal) => getJson<{ entries: DeniedEntry[] }>(path, { status: 403, newest: 100 }, signal), 2_000, path);
  const rows = [...(polled.value?.entries ?? [])].reverse();
  return (
    <div>
      {polled.problem && <Alert kind="error">{polled.problem}</Alert>}
      <Grid
        label="Denied requests"
        columns={columns}
        rows={rows}
        rowKey={(entry) => entry.request_id}
        selected={props.selected}
        height="226px"
        onOpen={props.onSelect}
        empty="No request of the journal has status 403."
      />
    </div>
  );
}

function DescribedRequest(props: { accounts: readonly Account[]; busy: boolean; onAsk: (question: Question) => void }) {
  const [question, setQuestion] = useState<Question>({ principal: '', action: 's3:GetObject', resource: 'arn:aws:s3:::', conditions: [] });
  const set = (members: Partial<Question>) => setQuestion({ ...question, ...members });
  const setCondition = (index: number, members: Partial<Question['conditions'][number]>) =>
    set({ conditions: question.conditions.map((one, i) => (i === index ? { ...one, ...members } : one)) });
  return (
    <form
      class="form described"
      onSubmit={(event) => {
        event.preventDefault();
        props.onAsk(question);
      }}
    >
      <div class="described-fields">
        <Field label="Requester" hint="A key or an ARN. Empty: unsigned.">
          {(attributes) => (
            <input {...attributes} list="access-principals" spellcheck={false} autocomplete="off" value={question.principal} onInput={(event) => set({ principal: event.currentTarget.value })} />
          )}
        </Field>
        <Field label="Action">
          {(attributes) => (
            <input {...attributes} list="access-actions" required spellcheck={false} autocomplete="off" value={question.action} onInput={(event) => set({ action: event.currentTarget.value })} />
          )}
        </Field>
        <Field label="Resource" hint="arn:aws:s3:::BUCKET/KEY">
          {(attributes) => <input {...attributes} required spellcheck={false} autocomplete="off" value={question.resource} onInput={(event) => set({ resource: event.currentTarget.value })} />}
        </Field>
      </div>
      {question.conditions.map((condition, i) => (
        <div class="described-condition" key={i}>
          <input class="input" list="access-conditions" aria-label={`Condition key ${i + 1}`} placeholder="aws:SourceIp" value={condition.key} onInput={(event) => setCondition(i, { key: event.currentTarget.value })} />
          <input class="input" aria-label={`Value ${i + 1}`} placeholder="192.0.2.1" value={condition.value} onInput={(event) => setCondition(i, { value: event.currentTarget.value })} />
          <button type="button" class="button plain small" aria-label={`Remove condition ${i + 1}`} onClick={() => set({ conditions: question.conditions.filter((_, k) => k !== i) })}>
            ✕
          </button>
        </div>
      ))}
      <div class="toolbar">
        <button type="button" class="button small" onClick={() => set({ conditions: [...question.conditions, { key: '', value: '' }] })}>
          + Add a condition
        </button>
        <button type="submit" class="button primary small" disabled={props.busy}>
          Explain
        </button>
      </div>
      <datalist id="access-principals">
        {principalsOf(props.accounts).map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="access-actions">
        {actions.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <datalist id="access-conditions">
        {conditionKeys.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  );
}

export function ExplainPanel(props: { space: string; accounts: readonly Account[] }) {
  const [shown, setShown] = useState<Shown | null>(null);
  const action = useAction();
  const path = inNamespace('explain', props.space);
  const ask = (query: string, principal: string, denied: DeniedEntry | null) =>
    void action.run(async () => setShown({ explanation: await getJson<Explanation>(`${path}?${query}`), principal, denied }));
  return (
    <Panel title="Explain a denial" flush>
      <div class="explain">
        <div class="explain-ask">
          <DeniedRequests
            space={props.space}
            selected={shown?.explanation.request_id ?? ''}
            onSelect={(entry) => ask(new URLSearchParams({ request_id: entry.request_id }).toString(), entry.access_key ?? '', entry)}
          />
          <DescribedRequest accounts={props.accounts} busy={action.busy} onAsk={(question) => ask(questionQuery(question), question.principal, null)} />
        </div>
        <div class="explain-answer">
          {action.problem && <Alert kind="error">{action.problem}</Alert>}
          {shown ? (
            <ExplanationText space={props.space} accounts={props.accounts} shown={shown} />
          ) : (
            <p class="muted">Choose a denied request, or describe one. The statement that decides shows here.</p>
          )}
        </div>
      </div>
    </Panel>
  );
}
