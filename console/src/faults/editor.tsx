// Edits a scenario: a list of rules with a form for one of them, or the whole as JSON.
import { useState } from 'preact/hooks';
import { Field, Panel } from '../components/basic.tsx';
import { JsonEditor } from '../components/json_editor.tsx';
import { SchemaForm } from '../components/schema_form.tsx';
import { visibleText } from '../lib/keys.ts';
import { ruleId, ruleSummary } from '../lib/scenario.ts';
import { isObject, placeOf, type Json, type JsonObject, type Schema } from '../lib/schema.ts';
import { useStore } from '../lib/store.ts';
import { namespace } from '../live.ts';

const suggestions = {
  operation: [
    ...['@read', '@write', '@list', '@multipart', '@session'],
    ...['GetObject', 'HeadObject', 'PutObject', 'CopyObject', 'DeleteObject', 'DeleteObjects', 'ListObjectsV2', 'ListBuckets'],
    ...['CreateMultipartUpload', 'UploadPart', 'UploadPartCopy', 'CompleteMultipartUpload', 'AbortMultipartUpload', 'CreateSession'],
  ],
  code: ['InternalError', 'ServiceUnavailable', 'SlowDown', 'RequestTimeout', 'AccessDenied', 'NoSuchKey', 'ExpiredToken', 'BadDigest'],
  profile: ['s3-standard', 's3-express'],
};

const firstRule: JsonObject = { when: { operation: 'GetObject' }, do: { error: { code: 'InternalError' } }, limit: { times: 1 } };

interface EditorProps {
  schema: Schema;
  draft: JsonObject;
  selected: number;
  onSelect: (index: number) => void;
  onChange: (draft: JsonObject) => void;
  problem: string; // What the emulator said about the draft.
  busy: boolean;
  active: boolean;
  onStart: () => void;
}

const rulesOf = (draft: JsonObject) => (Array.isArray(draft['rules']) ? (draft['rules'] as readonly Json[]) : []);

function RuleList(props: { rules: readonly Json[]; selected: number; place: string; onSelect: (index: number) => void; onAdd: () => void }) {
  return (
    <div class="rule-list">
      <ol>
        {props.rules.map((rule, i) => (
          <li key={i}>
            <button
              type="button"
              aria-current={i === props.selected ? 'true' : undefined}
              data-wrong={props.place.startsWith(`rules[${i}]`) ? '' : undefined}
              onClick={() => props.onSelect(i)}
            >
              <strong>{visibleText(ruleId(rule, i))}</strong>
              <span class="muted">{visibleText(ruleSummary(rule))}</span>
            </button>
          </li>
        ))}
      </ol>
      <button type="button" class="button small" onClick={props.onAdd}>
        + Add a rule
      </button>
    </div>
  );
}

function RuleForm(props: { editor: EditorProps; index: number; setRules: (rules: readonly Json[], selected: number) => void }) {
  const { editor, index, setRules } = props;
  const rules = rulesOf(editor.draft);
  const rule = rules[index]!;
  const at = (i: number, rule: Json) => rules.map((one, k) => (k === i ? rule : one));
  const move = (by: number) => setRules(at(index, rules[index + by]!).map((one, k) => (k === index + by ? rule : one)), index + by);
  const copy = isObject(rule) ? { ...rule, ...(rule['id'] === undefined ? {} : { id: `${String(rule['id'])}-copy` }) } : rule;
  return (
    <div class="rule-form">
      <div class="toolbar" role="group" aria-label={`Place of ${visibleText(ruleId(rule, index))}`}>
        <button type="button" class="button small" disabled={index === 0} onClick={() => move(-1)}>
          Move up
        </button>
        <button type="button" class="button small" disabled={index === rules.length - 1} onClick={() => move(1)}>
          Move down
        </button>
        <button type="button" class="button small" onClick={() => setRules([...rules.slice(0, index + 1), copy, ...rules.slice(index + 1)], index + 1)}>
          Duplicate
        </button>
        <button type="button" class="button small danger" onClick={() => setRules(rules.filter((_, k) => k !== index), Math.max(0, index - 1))}>
          Remove
        </button>
      </div>
      <SchemaForm
        label={`Rule ${visibleText(ruleId(rule, index))}`}
        schema={editor.schema.$defs!['rule']!}
        root={editor.schema}
        value={rule}
        place={`rules[${index}]`}
        problem={placeOf(editor.problem)}
        suggestions={suggestions}
        onChange={(next) => setRules(at(index, next), index)}
      />
    </div>
  );
}

function Form(props: EditorProps) {
  const { draft, onChange } = props;
  const rules = rulesOf(draft);
  const selected = Math.min(props.selected, rules.length - 1);
  const set = (name: string, value: Json | undefined) => {
    const { [name]: _old, ...rest } = draft;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  const setRules = (next: readonly Json[], index: number) => {
    set('rules', next);
    props.onSelect(index);
  };
  return (
    <div class="form">
      <div class="scenario-head">
        <Field label="Name">
          {(attributes) => (
            <input {...attributes} value={typeof draft['name'] === 'string' ? draft['name'] : ''} onInput={(event) => set('name', event.currentTarget.value || undefined)} />
          )}
        </Field>
        <Field label="Seed">
          {(attributes) => (
            <input
              {...attributes}
              type="number"
              min={0}
              placeholder="1"
              value={typeof draft['seed'] === 'number' ? draft['seed'] : ''}
              onInput={(event) => set('seed', event.currentTarget.value === '' ? undefined : event.currentTarget.valueAsNumber)}
            />
          )}
        </Field>
      </div>
      <div class="scenario-rules">
        <RuleList rules={rules} selected={selected} place={placeOf(props.problem).place} onSelect={props.onSelect} onAdd={() => setRules([...rules, firstRule], rules.length)} />
        {rules.length > 0 ? (
          <RuleForm editor={props} index={selected} setRules={setRules} />
        ) : (
          <p class="muted">A rule selects requests, and says what happens to them. Add one, or edit a named scenario.</p>
        )}
      </div>
    </div>
  );
}

// What the editors show besides the draft, by namespace, also after another view was shown.
interface Mode {
  json: boolean;
  unfinished?: string | undefined; // A text that is not JSON yet.
}
const modes = new Map<string, Mode>();

export function ScenarioEditor(props: EditorProps) {
  const space = useStore(namespace);
  const [mode, setMode] = useState<Mode>(() => modes.get(space) ?? { json: false });
  const [valid, setValid] = useState(true);
  const { json } = mode;
  const change = (next: Mode) => {
    modes.set(space, next);
    setMode(next);
  };
  const toggle = () => {
    change({ json: !json }); // The form shows the last text that was JSON.
    setValid(true);
  };
  return (
    <Panel
      title="Scenario"
      actions={
        <>
          <button type="button" class="button small plain" aria-pressed={json} onClick={toggle}>
            JSON
          </button>
          <button type="button" class="button small primary" disabled={props.busy || !valid || rulesOf(props.draft).length === 0} onClick={props.onStart}>
            {props.active ? 'Replace the running scenario' : 'Start'}
          </button>
        </>
      }
    >
      {json ? (
        <JsonEditor
          label="Scenario as JSON"
          value={props.draft}
          rows={28}
          problem={props.problem}
          onValid={setValid}
          unfinished={mode.unfinished}
          onUnfinished={(unfinished) => change({ json, unfinished })}
          onChange={(value) => props.onChange(isObject(value) ? value : { rules: Array.isArray(value) ? (value as readonly Json[]) : [value] })}
        />
      ) : (
        <Form {...props} />
      )}
    </Panel>
  );
}
