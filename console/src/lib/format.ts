// Texts for numbers. Plain functions of their arguments.

const integers = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const binaryUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const missing = '–';

export function count(value: number): string {
  return Number.isFinite(value) ? integers.format(value) : missing;
}

// At most three significant digits: 1.25, 12.5, 125.
function significant(value: number): string {
  const size = Math.abs(value);
  if (size >= 100 || Number.isInteger(value)) return integers.format(value);
  return String(Number(value.toFixed(size >= 10 ? 1 : 2)));
}

export function bytes(value: number): string {
  if (!Number.isFinite(value)) return missing;
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 1024 && unit < binaryUnits.length - 1) {
    scaled /= 1024;
    unit++;
  }
  return `${significant(scaled)} ${binaryUnits[unit]}`;
}

export function byteRate(bytesPerSecond: number): string {
  return Number.isFinite(bytesPerSecond) ? `${bytes(bytesPerSecond)}/s` : missing;
}

// A rate or another number whose digits after the third do not matter: 0.5, 12.3, 12,345.
export function number(value: number): string {
  return Number.isFinite(value) ? significant(value) : missing;
}

export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return missing;
  const size = Math.abs(seconds);
  if (size === 0) return '0 ms';
  if (size < 0.000_999_5) return `${significant(seconds * 1e6)} µs`;
  if (size < 0.999_5) return `${significant(seconds * 1e3)} ms`;
  if (size < 60) return `${significant(seconds)} s`;
  return longDuration(seconds);
}

// 1 min 5 s, 2 h 3 min, 4 d 5 h: the two largest units.
function longDuration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  const units: [string, number][] = [
    ['d', 86_400],
    ['h', 3_600],
    ['min', 60],
    ['s', 1],
  ];
  const first = units.findIndex(([, size]) => whole >= size);
  const [name, size] = units[first]!;
  const next = units[first + 1];
  const rest = next ? Math.floor((whole % size) / next[1]) : 0;
  const text = `${Math.floor(whole / size)} ${name}${rest > 0 ? ` ${rest} ${next![0]}` : ''}`;
  return seconds < 0 ? `−${text}` : text;
}

// 14:03:27.125 of a time in ISO 8601, in UTC as S3 writes times.
export function timeOfDay(iso: string): string {
  return /T(\d\d:\d\d:\d\d(?:\.\d{1,3})?)/.exec(iso)?.[1] ?? iso;
}

// 2026-11-30 14:03:27 UTC.
export function dateTime(iso: string): string {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)/.exec(iso);
  return match ? `${match[1]} ${match[2]} UTC` : iso;
}

export function percent(share: number): string {
  return Number.isFinite(share) ? `${significant(share * 100)} %` : missing;
}

export function plural(value: number, one: string, many: string): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
