// A text that someone else chose: a key, a header's value. Bidirectional text stays inside it, and characters without a glyph are escapes.
import { visiblePieces, visibleText } from '../lib/keys.ts';
import './name.css';

export function Name(props: { text: string; empty?: string; title?: string }) {
  if (props.text === '') return <span class="muted">{props.empty ?? '(empty)'}</span>;
  return (
    <bdi class="name" title={props.title ?? visibleText(props.text)}>
      {visiblePieces(props.text).map(({ text, escaped }, i) => (escaped ? <span key={i} class="name-escape">{text}</span> : text))}
    </bdi>
  );
}
