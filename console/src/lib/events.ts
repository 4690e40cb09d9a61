// Parses a text/event-stream: bytes in any pieces in, the `data` of complete events out.

export class EventParser {
  #rest = '';
  #data: string[] = [];

  push(text: string): string[] {
    const complete: string[] = [];
    // A piece may end between the two characters of a CRLF; the CR waits for the next piece then.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop()!;
    for (const line of lines) {
      if (line !== '') {
        if (line.startsWith('data:')) this.#data.push(line.slice(line[5] === ' ' ? 6 : 5));
        continue;
      }
      if (this.#data.length > 0) complete.push(this.#data.join('\n'));
      this.#data = [];
    }
    return complete;
  }
}

// Seconds before the attempt after `failures` failures: 0.5, 1, 2, 4, 8, 10, 10, ... `random` is in [0, 1).
export function reconnectDelay(failures: number, random: number): number {
  const whole = Math.min(10, 0.5 * 2 ** (failures - 1));
  return whole * (0.75 + random / 4);
}
