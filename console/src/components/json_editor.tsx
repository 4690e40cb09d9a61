// A text field for JSON, with the error of the parser or of the emulator below it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import type { Json } from '../lib/schema.ts';
import { Field } from './basic.tsx';

export const jsonText = (value: unknown) => JSON.stringify(value, null, 2);

// Calls `onChange` with each text that is JSON, and `onValid` when that changes.
export function JsonEditor(props: { label: string; value: Json; onChange: (value: Json) => void; onValid?: (valid: boolean) => void; problem?: string; rows?: number }) {
  const [text, setText] = useState(() => jsonText(props.value));
  const [wrong, setWrong] = useState('');
  const own = useRef<Json>(props.value); // The value of `text`.

  useEffect(() => {
    if (props.value === own.current) return;
    own.current = props.value;
    setText(jsonText(props.value));
    setWrong('');
  }, [props.value]);
  useEffect(() => props.onValid?.(wrong === ''), [wrong]);

  const change = (next: string) => {
    setText(next);
    try {
      own.current = JSON.parse(next) as Json;
      setWrong('');
      props.onChange(own.current);
    } catch (error) {
      setWrong(`This is not JSON: ${messageOf(error)}`);
    }
  };
  return (
    <Field label={props.label} error={wrong || props.problem || undefined}>
      {(attributes) => <textarea {...attributes} rows={props.rows ?? 20} spellcheck={false} value={text} onInput={(event) => change(event.currentTarget.value)} />}
    </Field>
  );
}
