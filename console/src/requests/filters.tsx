// The filters of the journal. Their values are in the page's address.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { Filter, FilterName } from '../lib/entry.ts';
import { useStore } from '../lib/store.ts';
import { live, type LiveState } from '../live.ts';
import { replaceParams } from '../router.ts';

const statuses: readonly [value: string, text: string][] = [
  ['', 'Any status'],
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
  ['0', 'No response'],
];
const typingMs = 350;

// A text that becomes a parameter of the address when the user has stopped typing.
function TextFilter(props: { name: FilterName; label: string; filter: Filter; list?: readonly string[]; placeholder?: string }) {
  const id = useId();
  const current = props.filter[props.name] ?? '';
  const [text, setText] = useState(current);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => setText(current), [current]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (value: string, delay: number) => {
    setText(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => replaceParams({ [props.name]: value.trim() }), delay);
  };
  return (
    <div class="filter">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        class="input"
        type="text"
        value={text}
        spellcheck={false}
        autocomplete="off"
        placeholder={props.placeholder ?? ''}
        list={props.list ? `${id}-list` : undefined}
        onInput={(event) => change(event.currentTarget.value, typingMs)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') change(event.currentTarget.value, 0);
        }}
      />
      {props.list && (
        <datalist id={`${id}-list`}>
          {props.list.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </div>
  );
}

function Choice(props: { name: FilterName; label: string; filter: Filter; options: readonly (readonly [string, string])[] }) {
  const id = useId();
  const current = props.filter[props.name] ?? '';
  const known = props.options.some(([value]) => value === current);
  return (
    <div class="filter">
      <label for={id}>{props.label}</label>
      <select id={id} class="input" value={current} onChange={(event) => replaceParams({ [props.name]: event.currentTarget.value })}>
        {!known && <option>{current}</option>}
        {props.options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  );
}

const more: readonly FilterName[] = ['key', 'method', 'access_key', 'connection', 'rank', 'invocation', 'retried', 'fault'];

// Texts, so that the filters are not rendered again by each live event.
const namesOf = (counts: Readonly<Record<string, number>> = {}) => Object.keys(counts).sort().join(' ');
const operationsOf = ({ latest }: LiveState) => namesOf(latest?.requests);
const statusesOf = ({ latest }: LiveState) => namesOf(latest?.statuses);

export function Filters(props: { filter: Filter }) {
  const { filter } = props;
  const active = Object.keys(filter).length;
  const hiddenActive = more.some((name) => filter[name]);
  const [open, setOpen] = useState(hiddenActive);
  const seen = useStore(live, statusesOf).split(' ').filter((status) => Number(status) > 0);
  const operations = useStore(live, operationsOf);
  useEffect(() => {
    if (hiddenActive) setOpen(true);
  }, [hiddenActive]);
  const clear = () => replaceParams(Object.fromEntries(Object.keys(filter).map((name) => [name, undefined])));
  return (
    <search class="filters" aria-label="Filters of requests">
      <TextFilter name="operations" label="Operations" filter={filter} list={operations ? operations.split(' ') : []} placeholder="GetObject" />
      <Choice name="status" label="Status" filter={filter} options={[...statuses, ...seen.map((status) => [status, status] as const)]} />
      <TextFilter name="bucket" label="Bucket" filter={filter} />
      <TextFilter name="key_prefix" label="Key prefix" filter={filter} />
      {open && (
        <>
          <TextFilter name="key" label="Key" filter={filter} />
          <Choice name="method" label="Method" filter={filter} options={[['', 'Any method'], ...['GET', 'HEAD', 'PUT', 'POST', 'DELETE'].map((m) => [m, m] as const)]} />
          <Choice
            name="retried"
            label="Attempts"
            filter={filter}
            options={[
              ['', 'All attempts'],
              ['false', 'First attempts'],
              ['true', 'Retries'],
            ]}
          />
          <TextFilter name="access_key" label="Access key" filter={filter} />
          <TextFilter name="fault" label="Fault rule" filter={filter} />
          <TextFilter name="connection" label="Connection" filter={filter} />
          <TextFilter name="rank" label="Rank" filter={filter} />
          <TextFilter name="invocation" label="Invocation" filter={filter} />
        </>
      )}
      <div class="toolbar">
        <button type="button" class="button plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          {open ? 'Fewer filters' : 'More filters'}
        </button>
        {active > 0 && (
          <button type="button" class="button plain" onClick={clear}>
            Remove filters
          </button>
        )}
      </div>
    </search>
  );
}
