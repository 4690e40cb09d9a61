// The settings of the limits: a preset, sliders for its values, or the whole as JSON.
import { useEffect, useId, useState } from 'preact/hooks';
import { Alert, Field, Panel } from '../components/basic.tsx';
import { JsonEditor } from '../components/json_editor.tsx';
import { NumberInput } from '../components/number_input.tsx';
import { duration } from '../lib/format.ts';
import { effective, ownBuckets, positionOf, presets, scales, scopeOf, steps, valueAt, withScope, type LimitsDocument, type Scale } from '../lib/limits.ts';
import { isObject, type Json } from '../lib/schema.ts';

function SliderRow(props: { scale: Scale; value: number; changed: boolean; onChange: (value: number) => void; onReset: () => void }) {
  const { scale, value, onChange } = props;
  const id = useId();
  const text = value === 0 && scale.zero !== undefined ? scale.zero : scale.unit === 's' ? duration(value) : `${value} ${scale.unit}`;
  return (
    <div class="slider-row">
      <label for={id}>{scale.title}</label>
      <input
        id={id}
        type="range"
        min={0}
        max={steps}
        value={positionOf(scale, value)}
        aria-valuetext={text}
        onInput={(event) => onChange(valueAt(scale, event.currentTarget.valueAsNumber))}
      />
      <NumberInput class="input" aria-label={`${scale.title}, ${scale.unit}`} min={scale.zero === undefined ? 1 : 0} value={value} onValue={onChange} />
      <span class="muted">{value === 0 && scale.zero !== undefined ? scale.zero : scale.unit}</span>
      <button type="button" class="button plain small" disabled={!props.changed} aria-label={`Reset ${scale.title} to the preset`} title="Reset to the preset" onClick={props.onReset}>
        ↺
      </button>
    </div>
  );
}

const latencies = ['none', 's3-standard', 's3-express'];

function OtherSettings(props: { draft: LimitsDocument; onChange: (draft: LimitsDocument) => void }) {
  const { draft, onChange } = props;
  const { latency, retry_after_ms: retryAfter } = draft;
  const set = (name: string, value: unknown) => {
    const { [name]: _old, ...rest } = draft;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <div class="limits-other">
      <Field label="Response times">
        {(attributes) => (
          <select {...attributes} value={typeof latency === 'string' ? latency : latency === undefined ? 'none' : 'constant'} onChange={(event) => set('latency', event.currentTarget.value === 'none' ? undefined : event.currentTarget.value)}>
            {latencies.map((name) => (
              <option key={name}>{name}</option>
            ))}
            {typeof latency === 'object' && <option disabled>constant</option>}
          </select>
        )}
      </Field>
      <Field label="x-amz-retry-after, ms">
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={0}
            placeholder="not sent"
            value={typeof retryAfter === 'number' ? retryAfter : ''}
            onInput={(event) => set('retry_after_ms', event.currentTarget.value === '' ? undefined : event.currentTarget.valueAsNumber)}
          />
        )}
      </Field>
    </div>
  );
}

interface LimitsPanelProps {
  document: LimitsDocument; // What applies now.
  bucket: string; // The one that the view shows.
  buckets: readonly string[];
  on: boolean;
  busy: boolean;
  problem: string;
  onApply: (document: LimitsDocument) => void;
}

function Sliders(props: { draft: LimitsDocument; bucket: string; onChange: (draft: LimitsDocument) => void }) {
  const { draft, bucket, onChange } = props;
  const part = scopeOf(draft, bucket);
  const values = effective(draft, bucket);
  const preset = typeof part['preset'] === 'string' ? part['preset'] : '';
  const without = (name: string) => {
    const { [name]: _old, ...rest } = part;
    return rest;
  };
  const select = (name: string) => {
    const kept = Object.fromEntries(Object.entries(part).filter(([member]) => member !== 'preset' && !scales.some((scale) => scale.name === member)));
    onChange(withScope(draft, bucket, name === '' ? kept : { preset: name, ...kept }));
  };
  return (
    <>
      <div class="toolbar" role="group" aria-label="Preset">
        {Object.keys(presets).map((name) => (
          <button key={name} type="button" class="button small" aria-pressed={preset === name} onClick={() => select(name)}>
            {name}
          </button>
        ))}
        {bucket !== '' && (
          <button type="button" class="button small" aria-pressed={Object.keys(part).length === 0} onClick={() => onChange(withScope(draft, bucket, {}))}>
            as all buckets
          </button>
        )}
      </div>
      <div class="sliders">
        {scales.map((scale) => (
          <SliderRow
            key={scale.name}
            scale={scale}
            value={values[scale.name]}
            changed={part[scale.name] !== undefined}
            onChange={(value) => onChange(withScope(draft, bucket, { ...part, [scale.name]: value }))}
            onReset={() => onChange(withScope(draft, bucket, without(scale.name)))}
          />
        ))}
      </div>
    </>
  );
}

const sameText = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

export function LimitsPanel(props: LimitsPanelProps) {
  const [base, setBase] = useState(props.document); // What applied when the draft began.
  const [draft, setDraft] = useState(props.document);
  const [scope, setScope] = useState('');
  const [json, setJson] = useState(false);
  const [valid, setValid] = useState(true);
  // Limits that another client sets, or that were applied, replace the draft.
  useEffect(() => {
    if (sameText(props.document, base)) return;
    setBase(props.document);
    setDraft(props.document);
  }, [props.document, base]);
  const changed = !sameText(draft, props.document);
  // The form is about what the view shows, unless that would hide a change that was not applied.
  useEffect(() => {
    if (!changed) setScope(ownBuckets(props.document).includes(props.bucket) ? props.bucket : '');
  }, [props.bucket]);
  return (
    <Panel
      title="Limits"
      actions={
        <button
          type="button"
          class="button small plain"
          aria-pressed={json}
          onClick={() => {
            setJson(!json);
            setValid(true);
          }}
        >
          JSON
        </button>
      }
    >
      <div class="form limits-form">
        {json ? (
          <JsonEditor label="Limits as JSON" rows={16} value={draft as Json} onValid={setValid} onChange={(value) => isObject(value) && setDraft(value)} />
        ) : (
          <>
            <Field label="For">
              {(attributes) => (
                <select {...attributes} value={scope} onChange={(event) => setScope(event.currentTarget.value)}>
                  <option value="">all buckets, each partition</option>
                  {props.buckets.map((name) => (
                    <option key={name} value={name}>
                      the bucket {name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
            <Sliders draft={draft} bucket={scope} onChange={setDraft} />
            <OtherSettings draft={draft} onChange={setDraft} />
          </>
        )}
        {props.problem && <Alert kind="error">{props.problem}</Alert>}
        <div class="form-actions">
          <span class="muted limits-note">Applying starts with full token buckets and without history.</span>
          <button type="button" class="button" disabled={!changed} onClick={() => setDraft(props.document)}>
            Undo
          </button>
          <button type="button" class="button primary" disabled={props.busy || !valid || Object.keys(draft).length === 0} onClick={() => props.onApply(draft)}>
            {props.on ? 'Apply' : 'Turn on'}
          </button>
        </div>
      </div>
    </Panel>
  );
}
