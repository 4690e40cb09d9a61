// A worker that reads pages of listings, so that the page itself does not wait for them.
import { parseListing, type ListOptions, type Query } from './lib/listing.ts';
import { packRows, type Packed } from './lib/packed.ts';

export interface Question {
  id: number;
  xml: ArrayBuffer;
  options: ListOptions;
}

export type Answer = { id: number } & ({ page: Packed; next: Query | null } | { problem: string });

function answerOf({ id, xml, options }: Question): Answer {
  try {
    const { rows, next } = parseListing(new TextDecoder().decode(xml), options);
    return { id, page: packRows(rows), next };
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) };
  }
}

self.onmessage = ({ data }: MessageEvent<Question>) => {
  const answer = answerOf(data);
  self.postMessage(answer, { transfer: 'page' in answer ? [answer.page.bytes.buffer] : [] });
};
