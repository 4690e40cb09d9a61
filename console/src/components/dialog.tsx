// A modal dialog. The browser keeps the focus inside, closes it on Escape and returns the focus.
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export function Dialog(props: { title: string; wide?: boolean; onClose: () => void; children: ComponentChildren }) {
  const id = useId();
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current!;
    dialog.showModal();
    return () => dialog.close();
  }, []);
  return (
    <dialog
      ref={element}
      class={`dialog ${props.wide ? 'wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault(); // The owner removes the dialog.
        props.onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{props.title}</h2>
        <button type="button" class="button plain" onClick={props.onClose}>
          Close
        </button>
      </div>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}

// Asks before something that cannot be undone.
export function Confirmation(props: {
  title: string;
  children: ComponentChildren;
  action: string; // The text of the button, for example `Delete 3 objects`.
  busy?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <div class="form">
        <div>{props.children}</div>
        <div class="form-actions">
          <button type="button" class="button" onClick={props.onClose}>
            Cancel
          </button>
          <button type="button" class="button danger" disabled={props.busy ?? false} onClick={props.onConfirm}>
            {props.action}
          </button>
        </div>
      </div>
    </Dialog>
  );
}
