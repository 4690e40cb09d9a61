// The partitions of a bucket as a table: tokens, rates and counts now.
import { Grid, rowHeight, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { count } from '../lib/format.ts';
import { visibleText } from '../lib/keys.ts';
import { burst, compareKeys, rangeText, type BucketReport, type Partition } from '../lib/partitions.ts';

function Tokens(props: { tokens: number; most: number }) {
  return (
    <span class="tokens">
      <span class="tokens-bar" aria-hidden="true">
        <span style={{ width: `${Math.min(100, (100 * props.tokens) / props.most)}%` }} />
      </span>
      {count(props.tokens)}/{count(props.most)}
    </span>
  );
}

function columnsOf(bucket: BucketReport): Column<Partition>[] {
  const { reads_per_second: reads, writes_per_second: writes, burst_ms: burstMs } = bucket.limits;
  const number = (id: string, title: string, of: (partition: Partition) => number, wideOnly = false): Column<Partition> => ({
    id,
    title,
    width: 'minmax(64px, 0.6fr)',
    end: true,
    wideOnly,
    cell: (partition) => count(of(partition)),
    compare: (a, b) => of(a) - of(b),
  });
  return [
    {
      id: 'keys',
      title: 'Keys',
      width: 'minmax(110px, 2fr)',
      cell: (partition) => (
        <span class="mono">
          <Name text={rangeText(partition.begin, partition.end)} title={`Partition ${partition.id}: ${visibleText(rangeText(partition.begin, partition.end))}`} />
        </span>
      ),
      compare: (a, b) => compareKeys(a.begin, b.begin),
    },
    number('reads', 'Reads/s', (partition) => partition.reads.last_second),
    number('writes', 'Writes/s', (partition) => partition.writes.last_second),
    {
      id: 'read-tokens',
      title: 'Read tokens',
      width: 'minmax(116px, 1fr)',
      wideOnly: true,
      cell: (partition) => <Tokens tokens={partition.reads.tokens} most={burst(reads, burstMs)} />,
      compare: (a, b) => a.reads.tokens - b.reads.tokens,
    },
    {
      id: 'write-tokens',
      title: 'Write tokens',
      width: 'minmax(116px, 1fr)',
      wideOnly: true,
      cell: (partition) => <Tokens tokens={partition.writes.tokens} most={burst(writes, burstMs)} />,
      compare: (a, b) => a.writes.tokens - b.writes.tokens,
    },
    number('admitted', 'Admitted', (partition) => partition.reads.admitted + partition.writes.admitted, true),
    number('refused', '503', (partition) => partition.reads.refused + partition.writes.refused),
  ];
}

export function PartitionTable(props: { bucket: BucketReport }) {
  const { bucket } = props;
  const rows = Math.min(bucket.partitions.length, 8);
  return (
    <Grid
      label={`Partitions of ${bucket.name}`}
      columns={columnsOf(bucket)}
      rows={bucket.partitions}
      rowKey={(partition) => partition.id}
      height={`${(rows + 1) * rowHeight + 2}px`}
    />
  );
}
