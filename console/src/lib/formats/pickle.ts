// Reads a pickle as data. Names of classes and functions are data too: nothing is looked up, called or executed. Protocols 2 to 5, as
// Python writes them. Never recurses, so that hostile input cannot exhaust the call stack.
import { FormatError } from './binary.ts';

// A name: `torch.float32`.
export class Global {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

// What a pickle would call: an object with its class, arguments and state.
export class Call {
  readonly callee: Value;
  readonly args: readonly Value[];
  state: Value = null;
  constructor(callee: Value, args: readonly Value[]) {
    this.callee = callee;
    this.args = args;
  }
}

export class Dict {
  readonly entries: [Value, Value][] = [];
  // The last of equal keys counts, as in Python.
  get(key: string): Value | undefined {
    return this.entries.findLast(([name]) => name === key)?.[1];
  }
}

// Lists, tuples and sets are arrays.
export type Value = null | boolean | number | bigint | string | Uint8Array | Value[] | Dict | Global | Call;

const latin1 = new TextDecoder('latin1');
const utf8 = new TextDecoder('utf-8', { fatal: true });

export function isCallOf(value: Value | undefined, name: string): value is Call {
  return value instanceof Call && value.callee instanceof Global && value.callee.name === name;
}

class Machine {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #stack: Value[] = [];
  readonly #marks: Value[][] = []; // The stacks below each mark.
  readonly #memo = new Map<number, Value>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  run(): Value {
    for (;;) {
      const at = this.#at;
      const opcode = this.#take(1)[0]!;
      if (opcode === 0x2e) return this.#pop(); // STOP
      const handler = handlers[opcode];
      if (!handler) throw new FormatError(`The pickle has the opcode 0x${opcode.toString(16)} at byte ${at}, which this reader does not know.`);
      handler(this);
    }
  }

  #take(size: number): Uint8Array {
    if (!(size >= 0) || size > this.#bytes.length - this.#at) throw new FormatError(`The pickle ends within a value at byte ${this.#at}.`);
    this.#at += size;
    return this.#bytes.subarray(this.#at - size, this.#at);
  }

  number(size: 1 | 2 | 4 | 8): number {
    const at = this.#at;
    this.#take(size);
    if (size === 1) return this.#view.getUint8(at);
    if (size === 2) return this.#view.getUint16(at, true);
    if (size === 4) return this.#view.getUint32(at, true);
    return Number(this.#view.getBigUint64(at, true));
  }

  sized(size: 1 | 2 | 4 | 8): Uint8Array {
    return this.#take(this.number(size));
  }

  text(size: 1 | 4 | 8): string {
    const bytes = this.sized(size);
    try {
      return utf8.decode(bytes);
    } catch {
      return latin1.decode(bytes); // `surrogatepass` of Python: not text that can be shown.
    }
  }

  line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end < 0) throw new FormatError('The pickle ends within a name.');
    const line = latin1.decode(this.#take(end - this.#at));
    this.#at++;
    return line;
  }

  integer(): void {
    const at = this.#at;
    this.#take(4);
    this.push(this.#view.getInt32(at, true));
  }

  float(): void {
    const at = this.#at;
    this.#take(8);
    this.push(this.#view.getFloat64(at, false));
  }

  // Two's complement, little-endian.
  long(size: 1 | 4): void {
    const bytes = this.sized(size);
    if (bytes.length > 1_024) throw new FormatError('The pickle has a number of more than 1,024 bytes.');
    let value = 0n;
    for (let i = bytes.length - 1; i >= 0; i--) value = (value << 8n) | BigInt(bytes[i]!);
    value = BigInt.asIntN(8 * bytes.length, value);
    const small = Number(value);
    this.push(Number.isSafeInteger(small) ? small : value);
  }

  push(value: Value): void {
    this.#stack.push(value);
  }

  #pop(): Value {
    const value = this.#stack.pop();
    if (value === undefined) throw new FormatError(`The pickle takes a value from an empty stack at byte ${this.#at}.`);
    return value;
  }

  #top(): Value {
    const value = this.#stack.at(-1);
    if (value === undefined) throw new FormatError(`The pickle uses a value of an empty stack at byte ${this.#at}.`);
    return value;
  }

  mark(): void {
    this.#marks.push(this.#stack);
    this.#stack = [];
  }

  toMark(): Value[] {
    const below = this.#marks.pop();
    if (!below) throw new FormatError(`The pickle has no mark for the opcode at byte ${this.#at - 1}.`);
    const values = this.#stack;
    this.#stack = below;
    return values;
  }

  drop(): void {
    if (this.#stack.length > 0) this.#stack.pop();
    else this.toMark();
  }

  tuple(size: number): void {
    const values: Value[] = [];
    for (let i = 0; i < size; i++) values.unshift(this.#pop());
    this.push(values);
  }

  append(values: readonly Value[]): void {
    const list = this.#top();
    if (Array.isArray(list)) for (const value of values) list.push(value);
    else if (!(list instanceof Call)) throw new FormatError('The pickle appends to what is not a list.');
  }

  appendOne(): void {
    const value = this.#pop();
    this.append([value]);
  }

  setItems(values: readonly Value[]): void {
    const dict = this.#top();
    if (dict instanceof Call) return; // A subclass of dict.
    if (!(dict instanceof Dict) || values.length % 2 !== 0) throw new FormatError('The pickle sets items of what is not a dict.');
    for (let i = 0; i < values.length; i += 2) dict.entries.push([values[i]!, values[i + 1]!]);
  }

  setItem(): void {
    const value = this.#pop();
    const key = this.#pop();
    this.setItems([key, value]);
  }

  stackGlobal(): void {
    const name = this.#pop();
    const module = this.#pop();
    if (typeof name !== 'string' || typeof module !== 'string') throw new FormatError('The pickle has a class whose name is not text.');
    this.push(new Global(`${module}.${name}`));
  }

  call(): void {
    const args = this.#pop();
    const callee = this.#pop();
    if (!Array.isArray(args)) throw new FormatError('The pickle has a call without arguments.');
    const name = callee instanceof Global ? callee.name : '';
    if (name === 'collections.OrderedDict' && args.length === 0) this.push(new Dict());
    else if (name === 'torch.Size' && args.length <= 1) this.push(args[0] ?? []);
    else this.push(new Call(callee, args));
  }

  build(): void {
    const state = this.#pop();
    const object = this.#top();
    if (object instanceof Call) object.state = state;
  }

  remember(number: number): void {
    this.#memo.set(number, this.#top());
  }

  rememberNext(): void {
    this.remember(this.#memo.size);
  }

  recall(number: number): void {
    const value = this.#memo.get(number);
    if (value === undefined) throw new FormatError(`The pickle refers to the value ${number}, which it does not have.`);
    this.push(value);
  }

  persistent(): void {
    this.push(new Call(new Global('persistent'), [this.#pop()]));
  }

  duplicate(): void {
    this.push(this.#top());
  }

  protocol(): void {
    const version = this.number(1);
    if (version > 5) throw new FormatError(`The pickle has protocol ${version}; protocols up to 5 are known.`);
  }
}

function dictOf(machine: Machine, values: readonly Value[]): void {
  machine.push(new Dict());
  machine.setItems(values);
}

const handlers: Readonly<Record<number, (machine: Machine) => void>> = {
  0x28: (m) => m.mark(), // (
  0x29: (m) => m.push([]), // )  EMPTY_TUPLE
  0x30: (m) => m.drop(), // 0  POP
  0x31: (m) => void m.toMark(), // 1  POP_MARK
  0x32: (m) => m.duplicate(), // 2
  0x42: (m) => m.push(m.sized(4)), // B  BINBYTES
  0x43: (m) => m.push(m.sized(1)), // C  SHORT_BINBYTES
  0x47: (m) => m.float(), // G
  0x4a: (m) => m.integer(), // J
  0x4b: (m) => m.push(m.number(1)), // K
  0x4d: (m) => m.push(m.number(2)), // M
  0x4e: (m) => m.push(null), // N
  0x51: (m) => m.persistent(), // Q
  0x52: (m) => m.call(), // R  REDUCE
  0x58: (m) => m.push(m.text(4)), // X
  0x5d: (m) => m.push([]), // ]
  0x61: (m) => m.appendOne(), // a
  0x62: (m) => m.build(), // b
  0x63: (m) => m.push(new Global(`${m.line()}.${m.line()}`)), // c
  0x65: (m) => m.append(m.toMark()), // e
  0x68: (m) => m.recall(m.number(1)), // h
  0x6a: (m) => m.recall(m.number(4)), // j
  0x6c: (m) => m.push(m.toMark()), // l
  0x64: (m) => dictOf(m, m.toMark()), // d
  0x71: (m) => m.remember(m.number(1)), // q
  0x72: (m) => m.remember(m.number(4)), // r
  0x73: (m) => m.setItem(), // s
  0x74: (m) => m.push(m.toMark()), // t
  0x75: (m) => m.setItems(m.toMark()), // u
  0x7d: (m) => m.push(new Dict()), // }
  0x80: (m) => m.protocol(),
  0x81: (m) => m.call(), // NEWOBJ
  0x85: (m) => m.tuple(1),
  0x86: (m) => m.tuple(2),
  0x87: (m) => m.tuple(3),
  0x88: (m) => m.push(true),
  0x89: (m) => m.push(false),
  0x8a: (m) => m.long(1),
  0x8b: (m) => m.long(4),
  0x8c: (m) => m.push(m.text(1)),
  0x8d: (m) => m.push(m.text(8)),
  0x8e: (m) => m.push(m.sized(8)),
  0x8f: (m) => m.push([]), // EMPTY_SET
  0x90: (m) => m.append(m.toMark()), // ADDITEMS
  0x91: (m) => m.push(m.toMark()), // FROZENSET
  0x93: (m) => m.stackGlobal(),
  0x94: (m) => m.rememberNext(),
  0x95: (m) => void m.number(8), // FRAME
};

export function readPickle(bytes: Uint8Array): Value {
  return new Machine(bytes).run();
}
