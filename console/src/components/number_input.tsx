// A field for a number. While it has the focus it keeps what is typed, also "" and "-", although the view is rendered at each event.
import { useState } from 'preact/hooks';

interface Attributes {
  id?: string;
  class?: string;
  'aria-label'?: string;
  'aria-invalid'?: 'true';
  min?: number | undefined;
  max?: number | undefined;
  step?: number | 'any';
}

// Calls `onValue` with each number that is typed.
export function NumberInput(props: Attributes & { value: number | undefined; onValue: (value: number) => void }) {
  const { value, onValue, ...attributes } = props;
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...attributes}
      type="number"
      value={typed ?? value ?? ''}
      onInput={(event) => {
        setTyped(event.currentTarget.value);
        if (!Number.isNaN(event.currentTarget.valueAsNumber)) onValue(event.currentTarget.valueAsNumber);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
