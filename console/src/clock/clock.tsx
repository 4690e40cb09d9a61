// Reads and changes the clock.
import { useEffect, useState } from 'preact/hooks';
import { getJson, inNamespace, sendJson } from '../api.ts';
import { Alert, Badge, Field, Panel } from '../components/basic.tsx';
import { isChanged, largestSkewSeconds, localOf, nowOf, offsetText, rateAt, ratePosition, units, utcOf, type Clock, type Unit } from '../lib/clock.ts';
import { useAction } from '../polling.ts';

const jumps: readonly [string, number][] = [
  ['1 min', 60],
  ['1 h', 3_600],
  ['1 day', 86_400],
  ['7 days', 604_800],
  ['30 days', 2_592_000],
  ['1 year', 31_536_000],
];

// The clock with the time at which it was read.
interface Reading {
  clock: Clock;
  at: number; // performance.now().
}

// The time of the clock, between two readings too.
function Now(props: { reading: Reading }) {
  const { reading } = props;
  const [, setTick] = useState(0);
  useEffect(() => {
    if (reading.clock.frozen) return;
    const timer = setInterval(() => setTick((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, [reading.clock.frozen]);
  const now = nowOf(reading.clock, (performance.now() - reading.at) / 1_000).toISOString();
  return (
    <time class="clock-now numbers" dateTime={now}>
      {now.slice(0, 10)} <strong>{now.slice(11, 19)}</strong> <small>UTC</small>
    </time>
  );
}

function Advance(props: { busy: boolean; onAdvance: (seconds: number) => void }) {
  const [amount, setAmount] = useState('1');
  const [unit, setUnit] = useState<Unit>('days');
  const seconds = Number(amount) * units[unit];
  return (
    <fieldset class="clock-group">
      <legend>Advance</legend>
      <div class="toolbar">
        {jumps.map(([name, by]) => (
          <button key={name} type="button" class="button small" disabled={props.busy} onClick={() => props.onAdvance(by)}>
            +{name}
          </button>
        ))}
      </div>
      <form
        class="clock-line"
        onSubmit={(event) => {
          event.preventDefault();
          props.onAdvance(seconds);
        }}
      >
        <input class="input" type="number" step="any" required aria-label="Amount, may be negative" value={amount} onInput={(event) => setAmount(event.currentTarget.value)} />
        <select class="input" aria-label="Unit" value={unit} onChange={(event) => setUnit(event.currentTarget.value as Unit)}>
          {Object.keys(units).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        <button type="submit" class="button" disabled={props.busy || !Number.isFinite(seconds) || seconds === 0}>
          Advance
        </button>
      </form>
    </fieldset>
  );
}

function SetTime(props: { busy: boolean; reading: Reading; onSet: (now: string) => void }) {
  const [text, setText] = useState('');
  const now = utcOf(text);
  return (
    <fieldset class="clock-group">
      <legend>Set</legend>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (now) props.onSet(now);
        }}
      >
        <Field label="Date and time, UTC" hint="From 1970 to 2261.">
          {(attributes) => <input {...attributes} type="datetime-local" step={1} value={text} onInput={(event) => setText(event.currentTarget.value)} />}
        </Field>
        <div class="clock-line">
          <button type="button" class="button small plain" onClick={() => setText(localOf(nowOf(props.reading.clock, (performance.now() - props.reading.at) / 1_000)))}>
            Take the current time
          </button>
          <button type="submit" class="button" disabled={props.busy || !now}>
            Set
          </button>
        </div>
      </form>
    </fieldset>
  );
}

function Rate(props: { busy: boolean; clock: Clock; onRate: (rate: number) => void }) {
  const [draft, setDraft] = useState<number | null>(null);
  const rate = draft ?? props.clock.rate;
  return (
    <fieldset class="clock-group">
      <legend>Speed</legend>
      <input
        type="range"
        min={-30}
        max={30}
        aria-label="Speed"
        aria-valuetext={`${rate} times the machine's clock`}
        value={ratePosition(rate)}
        onInput={(event) => setDraft(rateAt(event.currentTarget.valueAsNumber))}
      />
      <form
        class="clock-line"
        onSubmit={(event) => {
          event.preventDefault();
          props.onRate(rate);
          setDraft(null);
        }}
      >
        <input
          class="input"
          type="number"
          step="any"
          min={0.001}
          max={1_000}
          required
          aria-label="Times the machine's clock"
          value={rate}
          onInput={(event) => setDraft(event.currentTarget.valueAsNumber)}
        />
        <span class="muted">times</span>
        <button type="submit" class="button" disabled={props.busy || rate === props.clock.rate || Number.isNaN(rate)}>
          Apply
        </button>
      </form>
    </fieldset>
  );
}

export function ClockPanel(props: { space: string; live: Clock | null; onChange: (clock: Clock) => void }) {
  const path = inNamespace('clock', props.space);
  const [reading, setReading] = useState<Reading | null>(null);
  const action = useAction();
  const take = (clock: Clock) => setReading({ clock, at: performance.now() });
  // The live events have the clock; the first one may take a second.
  useEffect(() => {
    if (props.live) take(props.live);
  }, [props.live]);
  useEffect(() => void getJson<Clock>(path).then(take, () => {}), [path]);

  const send = (method: string, members?: object) =>
    void action.run(async () => {
      const clock = await sendJson<Clock>(method, path, members);
      take(clock);
      props.onChange(clock);
    });
  const change = (members: object) => send('POST', members);
  if (!reading) return <p class="muted">Loading …</p>;
  const { clock } = reading;
  return (
    <Panel
      title="Clock"
      actions={
        <button type="button" class="button small" disabled={action.busy || !isChanged(clock)} onClick={() => send('DELETE')}>
          Restore the machine's time
        </button>
      }
    >
      <div class="form">
        <div class="clock-head">
          <Now reading={reading} />
          <div class="toolbar">
            <Badge tone={clock.frozen ? 'warning' : 'ok'}>{clock.frozen ? 'frozen' : 'running'}</Badge>
            {clock.rate !== 1 && <Badge tone="warning">{clock.rate} times</Badge>}
            <Badge tone={Math.abs(clock.offset_seconds) >= 1 ? 'warning' : 'neutral'}>{offsetText(clock.offset_seconds)}</Badge>
            <button type="button" class="button small" disabled={action.busy} onClick={() => change({ frozen: !clock.frozen })}>
              {clock.frozen ? 'Continue' : 'Freeze'}
            </button>
          </div>
        </div>
        {Math.abs(clock.offset_seconds) > largestSkewSeconds && (
          <Alert kind="warning">
            Requests signed with the machine's time now get 403 RequestTimeTooSkewed: the difference is more than 15 minutes.
          </Alert>
        )}
        {action.problem && <Alert kind="error">{action.problem}</Alert>}
        <div class="clock-groups">
          <Advance busy={action.busy} onAdvance={(seconds) => change({ advance_seconds: seconds })} />
          <SetTime busy={action.busy} reading={reading} onSet={(now) => change({ now })} />
          <Rate busy={action.busy} clock={clock} onRate={(rate) => change({ rate })} />
        </div>
      </div>
    </Panel>
  );
}
