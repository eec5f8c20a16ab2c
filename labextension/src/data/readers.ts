import { asServiceError, pathOf, ServiceError, type ServiceRequests } from '../service';
import type {
  ICatalogue,
  ICatalogueColumns,
  ICatalogueTable,
  ICatalogueTables,
  IColumn,
  IHiveSchemas,
  IHiveTables,
  ITapTables
} from '../service/records/data';
import type { ISource } from './items';

/** Tables of a schema that are shown at most, as many as the service sends at once. */
const TABLES = 20_000;
/** Tables that one search shows of a source. */
const FOUND = 200;

/** A table with those of its columns that a search found. */
export interface IFound {
  table: Pick<ICatalogueTable, 'schema_name' | 'name' | 'type' | 'rows'>;
  columns: readonly IColumn[];
}

/** Reads what a source holds. All methods reject with `ServiceError`. */
export interface IReader {
  /** Return the state and the schemas; `wait` is in seconds, `refresh` reads the database again. */
  overview(wait: number, refresh: boolean): Promise<ICatalogue>;
  tables(schema: string): Promise<ICatalogueTable[]>;
  /** Return the columns, or null where the service does not tell them. */
  columns(schema: string, table: string): Promise<readonly IColumn[] | null>;
  /** Return what has a text in its name, as far as it was read before; null when nothing was. */
  find(text: string): Promise<IFound[] | null>;
}

/** Reads the catalogue that the service keeps. */
export class CatalogueReader implements IReader {
  private readonly _path: string;

  constructor(
    private readonly _requests: ServiceRequests,
    source: ISource
  ) {
    this._path = source.tap ? pathOf('db_taps', source.tap.id, 'catalogue') : 'hive_catalogue';
  }

  overview(wait: number, refresh: boolean): Promise<ICatalogue> {
    const query = { ...(wait > 0 && { wait }), ...(refresh && { refresh }) };
    return this._requests.get(this._path, query);
  }

  async tables(schema: string): Promise<ICatalogueTable[]> {
    // An empty text would be left out of the query, and there is one nameless schema at most.
    const query = { limit: TABLES, schema };
    return (await this._requests.get<ICatalogueTables>(`${this._path}/tables`, query)).tables;
  }

  async columns(schema: string, table: string): Promise<readonly IColumn[]> {
    const query = { schema, table };
    const found = await this._requests.get<ICatalogueColumns>(`${this._path}/columns`, query);
    return found.tables[0]?.columns ?? [];
  }

  async find(text: string): Promise<IFound[] | null> {
    const path = `${this._path}/columns`;
    const columns = await this._requests.get<ICatalogueColumns>(path, { search: text });
    if (columns.version === null) {
      return null; // searching its tables would begin to read it
    }
    const query = { search: text, limit: FOUND };
    const { tables } = await this._requests.get<ICatalogueTables>(`${this._path}/tables`, query);
    const found = new Map<string, IFound>();
    for (const table of tables) {
      found.set(JSON.stringify([table.schema_name, table.name]), { table, columns: [] });
    }
    for (const { schema_name, name, columns: some } of columns.tables) {
      const key = JSON.stringify([schema_name, name]);
      const table = found.get(key)?.table ?? { schema_name, name, type: 'table', rows: null };
      found.set(key, { table, columns: some });
    }
    return [...found.values()];
  }
}

/** Reads a source of a service that keeps no catalogues: its tables are listed each time. */
export class ListReader implements IReader {
  private _tables: ICatalogueTable[] | null = null;

  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _source: ISource
  ) {}

  async overview(): Promise<ICatalogue> {
    const { tap } = this._source;
    const schemas = tap ? await this._tapSchemas(tap.id) : await this._hiveSchemas();
    const none = { version: null, as_of: null, default_schema: null, failing_since: null };
    return { ...none, state: 'ready', error: null, schemas };
  }

  async tables(schema: string): Promise<ICatalogueTable[]> {
    if (this._source.tap) {
      return (this._tables ?? []).filter(table => table.schema_name === schema);
    }
    const read = (page: number): Promise<IHiveTables> =>
      this._requests.get(pathOf('hive', schema), { page, per_page: 100 });
    const names = await allPages(read, answer => answer.tables);
    return names.map(name => ({
      schema_name: schema,
      name,
      type: 'table',
      rows: null,
      columns: 0
    }));
  }

  async columns(schema: string, table: string): Promise<readonly IColumn[] | null> {
    return this._source.tap ? null : this._requests.get(pathOf('hive', schema, table));
  }

  find(text: string): Promise<IFound[] | null> {
    const found = this._tables?.filter(({ name }) => name.toLowerCase().includes(text));
    return Promise.resolve(found?.slice(0, FOUND).map(table => ({ table, columns: [] })) ?? null);
  }

  private async _tapSchemas(tap: number): Promise<ICatalogue['schemas']> {
    const { tables } = await this._requests.get<ITapTables>(pathOf('db_taps', tap, 'tables'));
    const counts = new Map<string, number>();
    this._tables = tables.map(({ name, type, schema_name }) => {
      const schema = schema_name ?? '';
      counts.set(schema, (counts.get(schema) ?? 0) + 1);
      return { schema_name: schema, name, type, rows: null, columns: 0 };
    });
    return [...counts].map(([name, count]) => ({ name, tables: count }));
  }

  private async _hiveSchemas(): Promise<ICatalogue['schemas']> {
    const read = (page: number): Promise<IHiveSchemas> =>
      this._requests.get('hive', { page, per_page: 100 });
    const names = await allPages(read, answer => answer.schemas);
    return names.map(name => ({ name, tables: -1 }));
  }
}

/** Reads the catalogue, or lists the tables where the service does not have catalogues. */
export class SourceReader implements IReader {
  private _reader: IReader;
  private _isKnown = false;

  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _source: ISource
  ) {
    this._reader = new CatalogueReader(_requests, _source);
  }

  /** Whether the service has a catalogue of the source, as far as is known. */
  get hasCatalogue(): boolean {
    return this._reader instanceof CatalogueReader;
  }

  async overview(wait: number, refresh: boolean): Promise<ICatalogue> {
    try {
      const answer = await this._reader.overview(wait, refresh);
      this._isKnown = true;
      return answer;
    } catch (reason) {
      if (this._isKnown || ![404, 405].includes(asServiceError(reason).status)) {
        throw reason;
      }
      const lists = new ListReader(this._requests, this._source);
      const answer = await lists.overview();
      this._reader = lists;
      return answer;
    }
  }

  tables = (schema: string): Promise<ICatalogueTable[]> => this._reader.tables(schema);
  columns = (schema: string, table: string): Promise<readonly IColumn[] | null> =>
    this._reader.columns(schema, table);

  async find(text: string): Promise<IFound[] | null> {
    try {
      return await this._reader.find(text);
    } catch (reason) {
      if (asServiceError(reason).isUnreachable) {
        throw reason;
      }
      return null; // another service, or a tap that cannot be read
    }
  }
}

/** Return the entries of all pages. */
async function allPages<A extends { paging_info?: { next_page: number | null } | null }, T>(
  read: (page: number) => Promise<A>,
  entries: (answer: A) => T[]
): Promise<T[]> {
  const all: T[] = [];
  let page: number | null = 1;
  while (page !== null) {
    const answer: A = await read(page);
    all.push(...entries(answer));
    const next: number | null = answer.paging_info?.next_page ?? null;
    if (next !== null && next <= page) {
      throw new ServiceError('the service pages in circles', 502);
    }
    page = next;
  }
  return all;
}
