// A form for a JSON value, made from its JSON Schema. It shows the members that the value has; a list at the end of each object
// adds the others.
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { childPlace, firstValue, isObject, nodeOf, scalarOf, variantOf, type Json, type JsonObject, type Node, type Property, type Schema } from '../lib/schema.ts';
import { NumberInput } from './number_input.tsx';
import './schema_form.css';

export interface SchemaFormProps {
  schema: Schema;
  root: Schema; // With `$defs`.
  value: Json;
  onChange: (value: Json) => void;
  label: string;
  place?: string; // Of this value in the document: 'rules[0]'.
  problem?: { place: string; text: string }; // An error of the emulator about the document.
  suggestions?: Readonly<Record<string, readonly string[]>>; // By member name.
}

interface EditorProps extends Required<Pick<SchemaFormProps, 'schema' | 'root' | 'value' | 'onChange' | 'place' | 'problem' | 'suggestions'>> {
  id: string; // Of the control, for its label.
  label: string; // Names a group of controls, for screen readers.
  member: string; // The name of the member that holds the value.
  hide?: string; // A member of an object whose name is shown already.
}

const composite = (node: Node) => node.kind === 'object' || node.kind === 'map' || node.kind === 'array';

function ScalarEditor(props: EditorProps & { node: Node }) {
  const { node, value, onChange, id } = props;
  const wrong = props.problem.place === props.place;
  const attributes = { id, class: 'input', ...(wrong ? { 'aria-invalid': 'true' as const } : {}) };
  switch (node.kind) {
    case 'boolean':
      return (
        <select {...attributes} value={String(value)} onChange={(event) => onChange(event.currentTarget.value === 'true')}>
          <option>true</option>
          <option>false</option>
        </select>
      );
    case 'enum':
      return (
        <select {...attributes} value={JSON.stringify(value)} onChange={(event) => onChange(JSON.parse(event.currentTarget.value) as Json)}>
          {(node.values.includes(value) ? node.values : [value, ...node.values]).map((one) => (
            <option key={JSON.stringify(one)} value={JSON.stringify(one)}>
              {String(one)}
            </option>
          ))}
        </select>
      );
    case 'constant':
      return <output id={id}>{JSON.stringify(node.value)}</output>;
    case 'number':
      return (
        <NumberInput
          {...attributes}
          step={node.whole ? 1 : 'any'}
          min={node.minimum}
          max={node.maximum}
          value={typeof value === 'number' ? value : undefined}
          onValue={onChange}
        />
      );
    case 'text': {
      const list = props.suggestions[props.member] ?? node.suggestions;
      return (
        <>
          <input
            {...attributes}
            spellcheck={false}
            autocomplete="off"
            list={list.length > 0 ? `${id}-list` : undefined}
            value={String(value)}
            onInput={(event) => onChange(scalarOf(event.currentTarget.value, node.number))}
          />
          {list.length > 0 && (
            <datalist id={`${id}-list`}>
              {list.map((one) => (
                <option key={one} value={one} />
              ))}
            </datalist>
          )}
        </>
      );
    }
    default:
      return <AnyEditor {...props} />;
  }
}

// A member that the schema does not describe.
function AnyEditor(props: EditorProps) {
  return (
    <input
      id={props.id}
      class="input mono"
      defaultValue={JSON.stringify(props.value)}
      onChange={(event) => {
        const text = event.currentTarget.value;
        try {
          props.onChange(JSON.parse(text) as Json);
        } catch {
          props.onChange(text);
        }
      }}
    />
  );
}

function ChoiceEditor(props: EditorProps & { node: Extract<Node, { kind: 'choice' }> }) {
  const { node, value, root, onChange, id } = props;
  const index = variantOf(value, node.variants, root);
  const variant = node.variants[index]!;
  const inner = nodeOf(variant.schema, root);
  const select = (
    <select
      class="input schema-variant"
      {...(composite(inner) ? { id } : { 'aria-label': `Form of ${props.label}` })}
      value={index}
      onChange={(event) => onChange(firstValue(node.variants[Number(event.currentTarget.value)]!.schema, root))}
    >
      {node.variants.map((one, i) => (
        <option key={i} value={i}>
          {one.title}
        </option>
      ))}
    </select>
  );
  // An action such as {"slow_down": {...}} has the name of its variant as its only required member.
  const named = inner.kind === 'object' && inner.properties.some((property) => property.required && property.name === variant.title);
  const editor = <Editor {...props} schema={variant.schema} {...(named ? { hide: variant.title } : {})} />;
  if (!composite(inner)) {
    return (
      <div class="schema-inline">
        {select}
        {editor}
      </div>
    );
  }
  return (
    <>
      {select}
      {variant.help && <p class="field-hint">{variant.help}</p>}
      {editor}
    </>
  );
}

function Row(props: { editor: EditorProps; name: string; nameControl?: ComponentChildren; help?: string; onRemove?: (() => void) | undefined; children?: ComponentChildren }) {
  const { editor } = props;
  const node = nodeOf(editor.schema, editor.root);
  const inner = node.kind === 'choice' ? nodeOf(node.variants[variantOf(editor.value, node.variants, editor.root)]!.schema, editor.root) : node;
  const block = composite(inner);
  const own = editor.problem.place === editor.place && editor.place !== '';
  return (
    <div class={`schema-row ${block ? 'block' : ''}`} role={block ? 'group' : undefined} aria-label={block ? editor.label : undefined}>
      <div class="schema-name">
        {props.nameControl ??
          // A group of controls has no single one for the label.
          (block && node.kind !== 'choice' ? <span>{props.name}</span> : <label for={editor.id}>{props.name}</label>)}
      </div>
      <div class="schema-value">
        <Editor {...editor} />
        {own && <span class="field-error">{editor.problem.text}</span>}
        {props.help && !own && node.kind !== 'choice' && <span class="field-hint">{props.help}</span>}
        {props.children}
      </div>
      {props.onRemove ? (
        <button type="button" class="button plain small schema-remove" aria-label={`Remove ${editor.label}`} title="Remove" onClick={props.onRemove}>
          ✕
        </button>
      ) : (
        <span />
      )}
    </div>
  );
}

const without = (value: JsonObject, name: string): JsonObject => {
  const { [name]: _removed, ...rest } = value;
  return rest;
};

// The members in the order of the schema, so that the form does not depend on the order in which they were added.
function inOrder(value: JsonObject, properties: readonly Property[]): JsonObject {
  const known = properties.filter((property) => property.name in value).map((property) => [property.name, value[property.name]!] as const);
  const others = Object.entries(value).filter(([name]) => !properties.some((property) => property.name === name));
  return Object.fromEntries([...known, ...others]);
}

function AddMember(props: { label: string; names: readonly string[]; onAdd: (name: string) => void }) {
  if (props.names.length === 0) return null;
  return (
    <select
      class="input schema-add"
      aria-label={`Add to ${props.label}`}
      value=""
      onChange={(event) => {
        if (event.currentTarget.value) props.onAdd(event.currentTarget.value);
        event.currentTarget.value = '';
      }}
    >
      <option value="">+ Add to {props.label.replace(/ of .*$/, '')} …</option>
      {props.names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function ObjectEditor(props: EditorProps & { node: Extract<Node, { kind: 'object' }> }) {
  const { node, root, onChange } = props;
  const value = isObject(props.value) ? props.value : {};
  const schemas = new Map(node.properties.map((property) => [property.name, property]));
  const set = (name: string, member: Json) => onChange(inOrder({ ...value, [name]: member }, node.properties));
  const editorOf = (name: string): EditorProps => ({
    ...props,
    hide: '',
    schema: schemas.get(name)?.schema ?? {},
    value: value[name]!,
    onChange: (member) => set(name, member),
    id: `${props.id}-${name}`,
    label: props.label ? `${name} of ${props.label}` : name,
    member: name,
    place: childPlace(props.place, name),
  });
  return (
    <div class="schema-object">
      {Object.keys(inOrder(value, node.properties)).map((name) => {
        if (name === props.hide) {
          // The same controls without a row of their own.
          const editor = editorOf(name);
          return (
            <>
              <Editor key={name} {...editor} label={name} />
              {props.problem.place === editor.place && <span class="field-error">{props.problem.text}</span>}
            </>
          );
        }
        const property = schemas.get(name);
        return (
          <Row key={name} editor={editorOf(name)} name={name} help={property?.help ?? ''} onRemove={property?.required ? undefined : () => onChange(without(value, name))} />
        );
      })}
      <AddMember
        label={props.label}
        names={node.properties.filter((property) => !(property.name in value)).map((property) => property.name)}
        onAdd={(name) => set(name, firstValue(schemas.get(name)!.schema, root))}
      />
    </div>
  );
}

function MapEditor(props: EditorProps & { node: Extract<Node, { kind: 'map' }> }) {
  const { node, root, onChange } = props;
  const value = isObject(props.value) ? props.value : {};
  const entries = Object.entries(value);
  const rename = (from: string, to: string) => onChange(Object.fromEntries(entries.map(([name, member]) => [name === from ? to : name, member])));
  return (
    <div class="schema-object">
      {entries.map(([name, member], i) => (
        <Row
          key={i}
          name={name}
          nameControl={
            <input
              class="input"
              aria-label={`Name ${i + 1} in ${props.label}`}
              value={name}
              onInput={(event) => {
                // Two members of one name would become one.
                if (event.currentTarget.value in value) event.currentTarget.value = name;
                else rename(name, event.currentTarget.value);
              }}
            />
          }
          editor={{
            ...props,
            schema: node.values,
            value: member,
            onChange: (next) => onChange({ ...value, [name]: next }),
            id: `${props.id}-${i}`,
            label: `${name || 'value'} of ${props.label}`,
            member: name,
            place: childPlace(props.place, name),
          }}
          onRemove={() => onChange(without(value, name))}
        />
      ))}
      {!('' in value) && (
        <button type="button" class="button small schema-add" onClick={() => onChange({ ...value, '': firstValue(node.values, root) })}>
          + Add<span class="visually-hidden"> to {props.label}</span>
        </button>
      )}
    </div>
  );
}

function ArrayEditor(props: EditorProps & { node: Extract<Node, { kind: 'array' }> }) {
  const { node, root, onChange } = props;
  const items = Array.isArray(props.value) ? (props.value as readonly Json[]) : [];
  const replace = (index: number, next: readonly Json[]) => onChange([...items.slice(0, index), ...next, ...items.slice(index + 1)]);
  return (
    <div class="schema-object">
      {items.map((item, i) => (
        <Row
          key={i}
          name={String(i + 1)}
          editor={{
            ...props,
            schema: node.items,
            value: item,
            onChange: (next) => replace(i, [next]),
            id: `${props.id}-${i}`,
            label: `item ${i + 1} of ${props.label}`,
            place: childPlace(props.place, i),
          }}
          onRemove={items.length > node.least ? () => replace(i, []) : undefined}
        />
      ))}
      <button type="button" class="button small schema-add" onClick={() => onChange([...items, firstValue(node.items, root)])}>
        + Add<span class="visually-hidden"> to {props.label}</span>
      </button>
    </div>
  );
}

function Editor(props: EditorProps) {
  const node = nodeOf(props.schema, props.root);
  switch (node.kind) {
    case 'object':
      return <ObjectEditor {...props} node={node} />;
    case 'map':
      return <MapEditor {...props} node={node} />;
    case 'array':
      return <ArrayEditor {...props} node={node} />;
    case 'choice':
      return <ChoiceEditor {...props} node={node} />;
    default:
      return <ScalarEditor {...props} node={node} />;
  }
}

export function SchemaForm(props: SchemaFormProps) {
  const id = useId();
  return (
    <div class="schema-form" role="group" aria-label={props.label}>
      <Editor
        schema={props.schema}
        root={props.root}
        value={props.value}
        onChange={props.onChange}
        place={props.place ?? ''}
        problem={props.problem ?? { place: '', text: '' }}
        suggestions={props.suggestions ?? {}}
        id={id}
        label={props.label}
        member=""
      />
    </div>
  );
}
