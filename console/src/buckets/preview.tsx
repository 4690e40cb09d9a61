// What an object contains, from as few of its bytes as possible. Nothing of it is executed: text is text, images are raster images.
import { useEffect, useState } from 'preact/hooks';
import { Alert, Members } from '../components/basic.tsx';
import { Grid, type Column } from '../components/grid.tsx';
import { Name } from '../components/name.tsx';
import { FormatError, shapeText, type Item } from '../lib/formats/binary.ts';
import { readDcpMetadata, type DcpItem } from '../lib/formats/dcp.ts';
import { readSafetensors, type Safetensors } from '../lib/formats/safetensors.ts';
import { decodeText, hexDump, imageType, kindOf } from '../lib/formats/sniff.ts';
import type { ParquetColumn, ParquetInfo } from '../lib/formats/parquet.ts';
import { bytes, count } from '../lib/format.ts';
import { escapeDirections } from '../lib/keys.ts';
import { useLoading } from '../lib/loading.ts';
import { readRange, type Address, type ObjectHead } from '../s3.ts';

const startBytes = 64 * 1024;
const maxImageBytes = 32 * 2 ** 20;
const maxMetadataBytes = 256 * 2 ** 20;
const dumpBytes = 512;

type Content =
  | { kind: 'text'; text: string; cut: boolean }
  | { kind: 'binary'; dump: string; note: string }
  | { kind: 'image'; blob: Blob }
  | { kind: 'parquet'; info: ParquetInfo }
  | { kind: 'safetensors'; file: Safetensors }
  | { kind: 'dcp'; items: DcpItem[] };

async function contentOf(address: Address, head: ObjectHead, signal: AbortSignal): Promise<Content> {
  const read = (begin: number, end: number) => readRange(address, begin, Math.min(end, head.size), head.etag, signal);
  const start = await read(0, startBytes);
  const binary = (note = ''): Content => ({ kind: 'binary', dump: hexDump(start.subarray(0, dumpBytes)), note });
  try {
    switch (kindOf(address.key, start, head.size)) {
      case 'image':
        if (head.size > maxImageBytes) return binary(`Images above ${bytes(maxImageBytes)} are not shown.`);
        return { kind: 'image', blob: new Blob([await read(0, head.size)], { type: imageType(start) }) };
      case 'parquet':
        return { kind: 'parquet', info: await (await import('../lib/formats/parquet.ts')).readParquet(head.size, read) };
      case 'safetensors':
        return { kind: 'safetensors', file: await readSafetensors(read) };
      case 'dcp':
        if (head.size > maxMetadataBytes) return binary(`Metadata above ${bytes(maxMetadataBytes)} is not read.`);
        return { kind: 'dcp', items: readDcpMetadata(await read(0, head.size)) };
      case 'text': {
        const cut = start.length < head.size;
        return { kind: 'text', text: escapeDirections(decodeText(start, cut) ?? ''), cut };
      }
      case 'binary':
        return binary();
    }
  } catch (error) {
    if (error instanceof FormatError || error instanceof RangeError) return binary(error.message);
    throw error;
  }
}

function Image(props: { blob: Blob }) {
  const [url, setUrl] = useState('');
  const [size, setSize] = useState('');
  useEffect(() => {
    const made = URL.createObjectURL(props.blob);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [props.blob]);
  return (
    <figure class="preview-image">
      {url && (
        <img src={url} alt="The object as an image" onLoad={({ currentTarget: image }) => setSize(`${image.naturalWidth} × ${image.naturalHeight}`)} />
      )}
      <figcaption class="muted">
        {props.blob.type} {size}
      </figcaption>
    </figure>
  );
}

const nameColumn = { id: 'name', title: 'Name', width: 'minmax(130px, 2fr)' };

const itemColumns: Column<Item>[] = [
  { ...nameColumn, cell: (item) => <Name text={item.name} />, compare: (a, b) => (a.name < b.name ? -1 : 1) },
  { id: 'detail', title: 'Type', width: 'minmax(120px, 1.5fr)', cell: (item) => item.detail },
  { id: 'size', title: 'Size', width: '84px', end: true, cell: (item) => bytes(item.end - item.begin), compare: (a, b) => a.end - a.begin - (b.end - b.begin) },
  { id: 'begin', title: 'Offset', width: '110px', end: true, wideOnly: true, cell: (item) => count(item.begin), compare: (a, b) => a.begin - b.begin },
];

function Items(props: { label: string; items: readonly Item[] }) {
  return <Grid label={props.label} height="300px" columns={itemColumns} rows={props.items} rowKey={(item) => `${item.begin} ${item.name} ${item.detail}`} />;
}

const parquetColumns: Column<ParquetColumn>[] = [
  { ...nameColumn, cell: (column) => <Name text={column.path} /> },
  { id: 'type', title: 'Type', width: 'minmax(120px, 1fr)', cell: (column) => column.type },
  { id: 'repetition', title: 'Repetition', width: '90px', cell: (column) => column.repetition },
];

function Parquet(props: { info: ParquetInfo }) {
  const { info } = props;
  return (
    <>
      <Members
        items={[
          ['Format', 'Parquet'],
          ['Rows', count(info.rows)],
          ['Row groups', count(info.rowGroups)],
          ['Written by', <Name text={info.createdBy} empty="unknown" />],
        ]}
      />
      <Grid label="Columns" height="240px" columns={parquetColumns} rows={info.columns} rowKey={(column) => column.path} />
      <h3>Columns of row groups</h3>
      <Items label="Columns of row groups" items={info.chunks} />
    </>
  );
}

function Tensors(props: { file: Safetensors }) {
  const { tensors, metadata } = props.file;
  return (
    <>
      <Members items={[['Format', 'safetensors'], ['Tensors', count(tensors.length)], ...metadata.map(([name, value]) => [name, <Name text={value} />] as const)]} />
      <Items label="Tensors" items={tensors} />
    </>
  );
}

const dcpColumns: Column<DcpItem>[] = [
  { ...nameColumn, cell: (item) => <Name text={item.name} />, compare: (a, b) => (a.name < b.name ? -1 : 1) },
  { id: 'dtype', title: 'Type', width: '74px', cell: (item) => item.dtype || 'object' },
  {
    id: 'shape',
    title: 'Shape',
    width: 'minmax(90px, 1fr)',
    cell: (item) => (item.dtype ? `${shapeText(item.chunk)}${item.offsets.some((at) => Number(at) > 0) ? ` at ${item.offsets.join(', ')}` : ''}` : ''),
  },
  { id: 'file', title: 'File', width: 'minmax(90px, 1fr)', cell: (item) => <Name text={item.file} />, compare: (a, b) => (a.file < b.file ? -1 : 1) },
  { id: 'begin', title: 'Offset', width: '100px', end: true, wideOnly: true, cell: (item) => count(item.begin), compare: (a, b) => a.begin - b.begin },
  { id: 'size', title: 'Size', width: '80px', end: true, cell: (item) => bytes(item.end - item.begin), compare: (a, b) => a.end - a.begin - (b.end - b.begin) },
];

function Checkpoint(props: { items: DcpItem[] }) {
  const { items } = props;
  const files = new Set(items.map(({ file }) => file));
  return (
    <>
      <Members items={[['Format', 'metadata of a distributed checkpoint'], ['Items', count(items.length)], ['Files', count(files.size)]]} />
      <Grid label="Items of the checkpoint" height="360px" columns={dcpColumns} rows={items} rowKey={(item) => `${item.file} ${item.begin} ${item.name}`} />
    </>
  );
}

export default function Preview(props: { address: Address; head: ObjectHead }) {
  const { address, head } = props;
  const { value, problem } = useLoading((signal) => contentOf(address, head, signal), [address.key, address.version, head.etag]);
  if (problem) return <Alert kind="error">{problem}</Alert>;
  if (!value) return <p class="muted">Loading …</p>;
  if (head.size === 0) return <p class="muted">The object is empty.</p>;
  switch (value.kind) {
    case 'text':
      return (
        <div class="preview">
          <pre class="code-block" tabIndex={0} dir="auto">
            <bdi>{value.text}</bdi>
          </pre>
          {value.cut && <p class="muted">The first 64 KiB of {bytes(head.size)}.</p>}
        </div>
      );
    case 'binary':
      return (
        <div class="preview">
          {value.note && <Alert kind="warning">{value.note}</Alert>}
          <pre class="code-block hex" tabIndex={0}>
            {value.dump}
          </pre>
          {head.size > dumpBytes && <p class="muted">The first {dumpBytes} bytes.</p>}
        </div>
      );
    case 'image':
      return <Image blob={value.blob} />;
    case 'parquet':
      return <Parquet info={value.info} />;
    case 'safetensors':
      return <Tensors file={value.file} />;
    case 'dcp':
      return <Checkpoint items={value.items} />;
  }
}
