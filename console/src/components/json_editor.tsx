// A text field for JSON, with the error of the parser or of the emulator below it.
import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../api.ts';
import type { Json } from '../lib/schema.ts';
import { Field } from './basic.tsx';

export const jsonText = (value: unknown) => JSON.stringify(value, null, 2);

function problemOf(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return `This is not JSON: ${messageOf(error)}`;
  }
}

interface JsonEditorProps {
  label: string;
  value: Json;
  onChange: (value: Json) => void; // For each text that is JSON.
  onValid?: (valid: boolean) => void; // When that changes.
  unfinished?: string | undefined; // A text that is not JSON yet, instead of the value.
  onUnfinished?: (text: string | undefined) => void; // undefined: the text is JSON.
  problem?: string;
  rows?: number;
}

export function JsonEditor(props: JsonEditorProps) {
  const [text, setText] = useState(() => props.unfinished ?? jsonText(props.value));
  const [wrong, setWrong] = useState(() => problemOf(text));
  const own = useRef<Json>(props.value); // The value of `text`.

  useEffect(() => {
    if (props.value === own.current) return;
    own.current = props.value;
    setText(jsonText(props.value));
    setWrong('');
  }, [props.value]);
  useEffect(() => props.onValid?.(wrong === ''), [wrong]);

  const change = (next: string) => {
    const found = problemOf(next);
    setText(next);
    setWrong(found);
    props.onUnfinished?.(found ? next : undefined);
    if (found) return;
    own.current = JSON.parse(next) as Json;
    props.onChange(own.current);
  };
  return (
    <Field label={props.label} error={wrong || props.problem || undefined}>
      {(attributes) => <textarea {...attributes} rows={props.rows ?? 20} spellcheck={false} value={text} onInput={(event) => change(event.currentTarget.value)} />}
    </Field>
  );
}
