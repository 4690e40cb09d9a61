// Small components of all views.
import type { ComponentChildren, JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { notify } from './toast.tsx';

export function Panel(props: {
  title: string;
  actions?: ComponentChildren;
  flush?: boolean; // Without distance around the content, for tables.
  class?: string;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class={`panel ${props.class ?? ''}`} aria-labelledby={id}>
      <div class="panel-head">
        <h2 id={id}>{props.title}</h2>
        {props.actions}
      </div>
      <div class={`panel-body ${props.flush ? 'flush' : ''}`}>{props.children}</div>
    </section>
  );
}

export interface FieldAttributes {
  id: string;
  class: string;
  'aria-describedby'?: string;
  'aria-invalid'?: 'true';
}

// A label, a control, a hint and an error. The control gets the attributes that connect them.
export function Field(props: {
  label: string;
  hint?: ComponentChildren;
  error?: string | undefined;
  children: (attributes: FieldAttributes) => ComponentChildren;
}) {
  const id = useId();
  const attributes: FieldAttributes = { id, class: 'input' };
  const described = [props.hint ? `${id}-hint` : '', props.error ? `${id}-error` : ''].filter(Boolean).join(' ');
  if (described) attributes['aria-describedby'] = described;
  if (props.error) attributes['aria-invalid'] = 'true';
  return (
    <div class="field">
      <label for={id}>{props.label}</label>
      {props.children(attributes)}
      {props.hint && (
        <span class="field-hint" id={`${id}-hint`}>
          {props.hint}
        </span>
      )}
      {props.error && (
        <span class="field-error" id={`${id}-error`} role="alert">
          {props.error}
        </span>
      )}
    </div>
  );
}

export function Check(props: { label: string; checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean }) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={props.checked}
        disabled={props.disabled ?? false}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      {props.label}
    </label>
  );
}

export function Alert(props: { kind: 'error' | 'warning' | 'info'; children: ComponentChildren; action?: ComponentChildren }) {
  return (
    <div class={`alert ${props.kind}`} role={props.kind === 'error' ? 'alert' : 'status'}>
      <div>{props.children}</div>
      {props.action}
    </div>
  );
}

export type Tone = 'ok' | 'warning' | 'error' | 'accent' | 'neutral';

export function Badge(props: { tone?: Tone; children: ComponentChildren; title?: string | undefined }) {
  return (
    <span class={`badge ${props.tone ?? ''}`} title={props.title}>
      {props.children}
    </span>
  );
}

export function statusTone(status: number): Tone {
  if (status === 0 || status >= 500) return 'error';
  if (status >= 400) return 'warning';
  return status >= 300 ? 'neutral' : 'ok';
}

export function StatusBadge(props: { status: number }) {
  return (
    <Badge tone={statusTone(props.status)} title={props.status === 0 ? 'The connection ended before a response.' : undefined}>
      {props.status === 0 ? 'none' : props.status}
    </Badge>
  );
}

export function CopyButton(props: { text: () => string; label: string; class?: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text());
      setCopied(true);
      setTimeout(() => setCopied(false), 1_500);
    } catch {
      notify('error', 'The browser does not allow this page to use the clipboard. Select the text and copy it.');
    }
  };
  return (
    <button type="button" class={props.class ?? 'button small'} onClick={() => void copy()}>
      <span aria-live="polite">{copied ? 'Copied' : props.label}</span>
    </button>
  );
}

// Terms and values. Values that are undefined, null or '' are left out.
export function Members(props: { items: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="members">
      {props.items
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <>
            <dt key={name}>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}

export interface SimpleColumn<Row> {
  title: string;
  end?: boolean;
  cell: (row: Row) => ComponentChildren;
}

// A table of at most some hundred rows. The first column names the row.
export function SimpleTable<Row>(props: {
  label: string;
  columns: readonly SimpleColumn<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  empty?: string;
}): JSX.Element {
  if (props.rows.length === 0) return <p class="grid-empty">{props.empty ?? 'Nothing yet.'}</p>;
  return (
    <div class="table-scroll" tabIndex={0} role="group" aria-label={props.label}>
      <table class="table">
        <caption class="visually-hidden">{props.label}</caption>
        <thead>
          <tr>
            {props.columns.map((column) => (
              <th key={column.title} scope="col" class={column.end ? 'end' : ''}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {props.rows.map((row) => (
            <tr key={props.rowKey(row)}>
              {props.columns.map((column, i) =>
                i === 0 ? (
                  <th key={column.title} scope="row" class={column.end ? 'end' : ''}>
                    {column.cell(row)}
                  </th>
                ) : (
                  <td key={column.title} class={column.end ? 'end' : ''}>
                    {column.cell(row)}
                  </td>
                ),
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
