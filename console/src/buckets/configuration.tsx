// The configuration documents of a bucket: shown, edited, checked by the emulator when they are saved.
import { useEffect, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import { Alert, Field, Panel } from '../components/basic.tsx';
import { Confirmation } from '../components/dialog.tsx';
import { notify } from '../components/toast.tsx';
import { useLoading } from '../lib/loading.ts';
import { useStore } from '../lib/store.ts';
import { childrenOf, indented, parseXml } from '../lib/xml.ts';
import { replaceParams, route } from '../router.ts';
import { deleteDocument, getDocument, putDocument } from '../s3.ts';
import { documentKinds, type DocumentKind } from './documents.ts';

// For people: one element or member per line.
function pretty(text: string, kind: DocumentKind): string {
  try {
    return kind.json ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : indented(parseXml(text));
  } catch {
    return text;
  }
}

// A document without content says that there is no configuration.
function isEmpty(text: string, kind: DocumentKind): boolean {
  if (kind.json) return text.trim() === '';
  try {
    return childrenOf(parseXml(text)).next().done ?? false;
  } catch {
    return false;
  }
}

function EditorActions(props: {
  kind: DocumentKind;
  loaded: boolean;
  stored: boolean;
  changed: boolean;
  savable: boolean;
  onText: (example: boolean) => void;
  onDelete: () => void;
}) {
  return (
    <div class="form-actions">
      <button type="button" class="button" disabled={!props.loaded} onClick={() => props.onText(true)}>
        Insert an example
      </button>
      <button type="button" class="button" disabled={!props.changed} onClick={() => props.onText(false)}>
        Undo changes
      </button>
      {props.kind.deletable && (
        <button type="button" class="button danger" disabled={!props.stored} onClick={props.onDelete}>
          Delete
        </button>
      )}
      <button type="submit" class="button primary" disabled={!props.savable}>
        Save
      </button>
    </div>
  );
}

function Editor(props: { namespace: string; bucket: string; kind: DocumentKind; onChange: () => void }) {
  const { namespace, bucket, kind } = props;
  const { value, problem, busy, reload } = useLoading(async () => ({ text: await getDocument(namespace, bucket, kind.name) }), [kind.name]);
  const [text, setText] = useState('');
  const [refusal, setRefusal] = useState('');
  const [deleting, setDeleting] = useState(false);
  const stored = value?.text ?? null;
  const shown = stored === null ? '' : pretty(stored, kind);
  useEffect(() => {
    setText(shown);
    setRefusal('');
  }, [value]);

  const change = async (what: () => Promise<void>, said: string) => {
    try {
      await what();
      notify('info', said);
      reload();
      props.onChange();
    } catch (error) {
      setRefusal(messageOf(error));
    }
  };
  const save = () => change(() => putDocument(namespace, bucket, kind.name, text), `${kind.title} of ${bucket} saved.`);
  const remove = () => {
    setDeleting(false);
    void change(() => deleteDocument(namespace, bucket, kind.name), `${kind.title} of ${bucket} deleted.`);
  };
  if (problem) return <Alert kind="error">{problem}</Alert>;
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field
        label={`${kind.title} as ${kind.json ? 'JSON' : 'XML'}`}
        hint={value && (stored === null || isEmpty(stored, kind)) ? 'The bucket has no such configuration.' : undefined}
        error={refusal || undefined}
      >
        {(attributes) => (
          <textarea
            {...attributes}
            class="input document"
            rows={18}
            spellcheck={false}
            disabled={!value}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      </Field>
      <EditorActions
        kind={kind}
        loaded={!!value}
        stored={stored !== null}
        changed={text !== shown}
        savable={!busy && text.trim() !== ''}
        onText={(example) => setText(example ? kind.template : shown)}
        onDelete={() => setDeleting(true)}
      />
      {deleting && (
        <Confirmation title={`Delete the ${kind.title.toLowerCase()} configuration?`} action="Delete" onConfirm={remove} onClose={() => setDeleting(false)}>
          The bucket {bucket} then has none.
        </Confirmation>
      )}
    </form>
  );
}

export default function Configuration(props: { namespace: string; bucket: string; onChange: () => void }) {
  const { params } = useStore(route);
  const kinds = documentKinds(props.bucket);
  const selected = kinds.find(({ name }) => name === params.get('document')) ?? kinds[0]!;
  return (
    <div class="configuration">
      <nav class="document-list" aria-label="Documents">
        {kinds.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            class="button plain"
            aria-pressed={name === selected.name}
            onClick={() => replaceParams({ document: name === kinds[0]!.name ? '' : name })}
          >
            {title}
          </button>
        ))}
      </nav>
      <Panel title={selected.title}>
        <Editor key={selected.name} namespace={props.namespace} bucket={props.bucket} kind={selected} onChange={props.onChange} />
      </Panel>
    </div>
  );
}
