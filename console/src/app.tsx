// The frame of all views: header, tabs, sign-in.
import { useEffect, useRef, useState } from 'preact/hooks';
import { session, signIn, signOut } from './api.ts';
import { Alert, Field } from './components/basic.tsx';
import { Toasts } from './components/toast.tsx';
import icon from './icon.svg';
import { useStore } from './lib/store.ts';
import { KeptParams } from './lib/kept.ts';
import { defaultNamespace } from './lib/route.ts';
import { isHeaderText } from './lib/token.ts';
import { live, type LiveState, namespace, reconnect, selectNamespace } from './live.ts';
import { hashOf, route } from './router.ts';
import { selectTheme, theme, type Theme } from './theme.ts';
import { views } from './views/index.ts';

const kept = new KeptParams(new Map(views.map(({ name, keeps = [] }) => [name, keeps])));
kept.keep(route.value);
route.subscribe((next) => kept.keep(next));

const phases = { connecting: 'Connecting', open: 'Live', waiting: 'Not connected', paused: 'Paused' };

// Texts, so that the header is not rendered again by each live event.
const namesOf = ({ latest }: LiveState) => latest?.namespaces.join('\n') ?? defaultNamespace;
const versionOf = ({ latest }: LiveState) => latest?.version ?? '';
const phaseOf = ({ phase }: LiveState) => phase;
const problemOf = ({ phase, problem }: LiveState) => (phase === 'waiting' ? problem : '');

function NamespaceSwitch() {
  const selected = useStore(namespace);
  const names = useStore(live, namesOf).split('\n');
  const all = names.includes(selected) ? names : [selected, ...names];
  return (
    <div class="shell-control">
      <label for="namespace">Namespace</label>
      <select id="namespace" class="input" value={selected} onChange={(event) => selectNamespace(event.currentTarget.value)}>
        {all.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  );
}

function ThemeSwitch() {
  const selected = useStore(theme);
  return (
    <div class="shell-control">
      <label for="theme" class="visually-hidden">
        Colours
      </label>
      <select id="theme" class="input" value={selected} onChange={(event) => selectTheme(event.currentTarget.value as Theme)}>
        <option value="auto">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </div>
  );
}

function Header(props: { current: string }) {
  const version = useStore(live, versionOf);
  const phase = useStore(live, phaseOf);
  const { token } = useStore(session);
  const place = useStore(route);
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    tabs.current?.querySelector('[aria-current]')?.scrollIntoView({ inline: 'nearest', block: 'nearest' });
  }, [props.current]);
  return (
    <header class="shell-header">
      <div class="shell-bar">
        <div class="brand">
          <img src={icon} alt="" />
          Penstock emulator {version && <small>{version}</small>}
        </div>
        <NamespaceSwitch />
        <ThemeSwitch />
        <span class="connection" data-phase={phase} role="status">
          {phases[phase]}
        </span>
        {token && (
          <button type="button" class="button small" onClick={signOut}>
            Sign out
          </button>
        )}
      </div>
      <nav class="tabs" ref={tabs} aria-label="Views">
        {views.map((view) => (
          <a key={view.name} href={hashOf(view.name, [], kept.of(view.name, place))} aria-current={view.name === props.current ? 'page' : undefined}>
            {view.title}
          </a>
        ))}
      </nav>
    </header>
  );
}

function ConnectionProblem() {
  const problem = useStore(live, problemOf);
  if (!problem) return null;
  return (
    <Alert
      kind="error"
      action={
        <button type="button" class="button small" onClick={reconnect}>
          Try now
        </button>
      }
    >
      {problem} The page tries again every few seconds.
    </Alert>
  );
}

function SignIn() {
  const { token } = useStore(session);
  const [value, setValue] = useState('');
  const [problem, setProblem] = useState('');
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isHeaderText(value)) setProblem('The token has a line break or a character outside Latin-1, which no header can have. Copy it again.');
        else if (value !== '') signIn(value);
      }}
    >
      <h1>Sign in</h1>
      <p class="muted">This emulator was started with an admin token. The token stays in this tab until it is closed.</p>
      <Field label="Admin token" error={problem || (token === '' ? undefined : 'The emulator refused this token.')}>
        {(attributes) => (
          <input
            {...attributes}
            type="password"
            autocomplete="off"
            spellcheck={false}
            value={value}
            onInput={(event) => {
              setValue(event.currentTarget.value);
              setProblem('');
            }}
          />
        )}
      </Field>
      <div class="form-actions">
        <button type="submit" class="button primary">
          Sign in
        </button>
      </div>
    </form>
  );
}

export function App() {
  const { view: name } = useStore(route);
  const { refused } = useStore(session);
  const selected = useStore(namespace);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const view = name === '' ? views[0]! : views.find((one) => one.name === name);

  useEffect(() => {
    document.title = `${view ? `${view.title} | ` : ''}Penstock emulator`;
    // A screen reader continues at the new view; the first view is where the page starts anyway.
    if (!first.current) main.current?.focus();
    first.current = false;
  }, [view]);

  return (
    <>
      <a
        class="skip-link visually-hidden"
        href="#main"
        onClick={(event) => {
          event.preventDefault(); // The part after `#` is the route.
          main.current?.focus();
        }}
      >
        Skip to the content
      </a>
      <Header current={view?.name ?? ''} />
      <main class="shell-main" id="main" ref={main} tabIndex={-1}>
        {refused ? (
          <SignIn />
        ) : (
          <>
            <ConnectionProblem />
            {view ? <view.component key={`${view.name} ${selected}`} /> : <Alert kind="error">There is no view “{name}”.</Alert>}
          </>
        )}
      </main>
      <Toasts />
    </>
  );
}
