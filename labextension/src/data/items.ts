import type { ICatalogueTable, IColumn, ITap } from '../service/records/data';

/** A database whose tables are shown: a tap's, or Hive. */
export interface ISource {
  key: string;
  name: string;
  /** Null for Hive. */
  tap: ITap | null;
}

/** The kind of an item. */
export type DataKind = 'source' | 'schema' | 'table' | 'column';

/** One item of the tree. */
export interface IDataItem {
  kind: DataKind;
  /** Unique and stable. */
  key: string;
  source: ISource;
  /** Its own name. */
  name: string;
  /** The schema that it is, or is in; empty in databases without schemas. */
  schema: string;
  /** The table that it is, or is in. */
  table: string;
  /** Whether a query needs no schema before the table. */
  isInDefaultSchema: boolean;
  /** The tables of a schema, or the rows of a table; null if unknown. */
  count: number | null;
  /** The type of a table or a column, in the database's words. */
  type: string;
}

const HIVE = 'hive';

/** Return the sources: the taps by name, then Hive. */
export function sourcesOf(taps: readonly ITap[], hiveName: string): ISource[] {
  const ofTaps = taps.map(tap => ({ key: `tap-${tap.id}`, name: tap.name, tap }));
  ofTaps.sort((one, other) => one.name.localeCompare(other.name));
  return [...ofTaps, { key: HIVE, name: hiveName, tap: null }];
}

/** Return the language of a source's names: the type of the tap, or `hive`. */
export function typeOf(source: ISource): string {
  return source.tap?.db_type ?? HIVE;
}

export function sourceItem(source: ISource): IDataItem {
  return item('source', source, { name: source.name });
}

export function schemaItem(source: ISource, name: string, tables: number | null): IDataItem {
  return item('schema', source, { name, schema: name, count: tables });
}

export function tableItem(
  source: ISource,
  table: Pick<ICatalogueTable, 'schema_name' | 'name' | 'type' | 'rows'>,
  defaultSchema: string | null
): IDataItem {
  const { schema_name: schema, name, type, rows: count } = table;
  const isInDefaultSchema = schema === '' || schema === defaultSchema;
  return item('table', source, { name, schema, table: name, type, count, isInDefaultSchema });
}

export function columnItem(table: IDataItem, column: IColumn): IDataItem {
  const { source, schema, isInDefaultSchema } = table;
  const { name, type } = column;
  return item('column', source, { name, schema, table: table.name, type, isInDefaultSchema });
}

/** Return whether there can be items below one. A tap that is not active cannot be read. */
export function opens({ kind, source }: IDataItem): boolean {
  return kind === 'source' ? source.tap?.active !== false : kind !== 'column';
}

function item(kind: DataKind, source: ISource, facts: Partial<IDataItem>): IDataItem {
  const rest = { name: '', schema: '', table: '', count: null, type: '', isInDefaultSchema: true };
  const all = { kind, source, ...rest, ...facts };
  const place = { source: [], schema: [all.schema], table: [all.schema, all.table] };
  const path = kind === 'column' ? [all.schema, all.table, all.name] : place[kind];
  return { ...all, key: JSON.stringify([source.key, ...path]) };
}
