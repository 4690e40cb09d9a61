// Schema and layout of Parquet files, from the footer. Only this file uses the library.
import { parquetMetadataAsync, parquetSchema, type FileMetaData, type SchemaTree } from 'hyparquet';
import type { Item, ReadRange } from './binary.ts';

export interface ParquetColumn {
  path: string;
  type: string;
  repetition: string;
}

export interface ParquetInfo {
  rows: number;
  rowGroups: number;
  createdBy: string;
  columns: ParquetColumn[];
  chunks: Item[]; // Columns of row groups.
}

// Leaves, with their parents' names.
function columnsOf(tree: SchemaTree): ParquetColumn[] {
  if (tree.children.length > 0) return tree.children.flatMap(columnsOf);
  const { element, path } = tree;
  const logical = element.logical_type?.type ?? element.converted_type;
  return [
    {
      path: path.join('.'),
      type: [element.type?.toLowerCase(), logical && `(${logical.toLowerCase()})`].filter(Boolean).join(' '),
      repetition: element.repetition_type?.toLowerCase() ?? '',
    },
  ];
}

function chunksOf(metadata: FileMetaData): Item[] {
  const items = metadata.row_groups.flatMap((group, number) =>
    group.columns.flatMap(({ meta_data: column }) => {
      if (!column) return [];
      const begin = Number(column.dictionary_page_offset ?? column.data_page_offset);
      const detail = `row group ${number}, ${column.type.toLowerCase()}, ${column.codec.toLowerCase()}`;
      return [{ name: column.path_in_schema.join('.'), detail, begin, end: begin + Number(column.total_compressed_size) }];
    }),
  );
  return items.sort((a, b) => a.begin - b.begin);
}

export async function readParquet(size: number, read: ReadRange): Promise<ParquetInfo> {
  const metadata = await parquetMetadataAsync({
    byteLength: size,
    slice: async (begin: number, end: number = size) => (await read(begin, end)).buffer,
  });
  return {
    rows: Number(metadata.num_rows),
    rowGroups: metadata.row_groups.length,
    createdBy: metadata.created_by ?? '',
    columns: columnsOf(parquetSchema(metadata)),
    chunks: chunksOf(metadata),
  };
}
