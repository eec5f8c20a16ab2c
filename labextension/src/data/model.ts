import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, Resource, type ServiceRequests } from '../service';
import type { ICatalogue, ITap, ITapList } from '../service/records/data';
import {
  columnItem,
  type IDataItem,
  type ISource,
  opens,
  schemaItem,
  sourceItem,
  sourcesOf,
  tableItem
} from './items';
import { SourceReader } from './readers';
import {
  foundRows,
  type IBranch,
  type IDataRow,
  LOADING,
  type IFoundSource,
  treeRows
} from './rows';

const INTERVAL = 10_000;
/** Seconds that one call waits for a first reading. */
const WAIT = 20;
const TAPS = 100;

/**
 * The state of the section: the sources, the open items with what is below them, and the search.
 *
 * It reads a source when the user opens it, and follows the version of its catalogue while the section is shown.
 */
export class DataModel {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _readers = new Map<string, SourceReader>();
  private readonly _seen = new Map<string, ICatalogue>();
  private readonly _open = new Map<string, IBranch>();
  private _sources: ISource[] = [];
  private _rows: IDataRow[] | null = null;
  private _selected: IDataItem | null = null;
  private _search = '';
  private _found: IFoundSource[] | null = null;

  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _hiveName: string
  ) {
    this.taps.changed.connect(() => this._onTaps());
  }

  /** The taps. While they are watched, the catalogues of open sources are followed. */
  readonly taps = new Resource<ITap[]>({
    name: 'taps',
    fetch: async signal => {
      const taps = await this._allTaps(signal);
      void this._follow(taps);
      return taps;
    },
    interval: INTERVAL
  });

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The rows from top to bottom; during a search, what was found, once there is an answer. */
  get rows(): readonly IDataRow[] {
    this._rows ??=
      this._search === '' || this._found === null
        ? treeRows(this._sources.map(sourceItem), this._open)
        : foundRows(this._found);
    return this._rows;
  }

  get selected(): IDataItem | null {
    return this._selected;
  }

  /** The keys of the open items, for a later `restore`. */
  get openKeys(): string[] {
    return [...this._open.keys()];
  }

  get search(): string {
    return this._search;
  }

  /** Search in what was read before; an empty text ends the search. */
  async find(text: string): Promise<void> {
    this._search = text;
    if (text === '') {
      this._found = null;
      this._tell();
      return;
    }
    const found = await Promise.all(this._sources.map(source => this._findIn(source, text)));
    if (this._search === text) {
      this._found = found.filter(one => one !== null);
      this._tell();
    }
  }

  select(item: IDataItem | null): void {
    if (this._selected?.key !== item?.key) {
      this._selected = item;
      this._changed.emit();
    }
  }

  /** Show what is below an item. An error is shown in its place. */
  async open(item: IDataItem, refresh = false): Promise<void> {
    if (!opens(item) || this._open.get(item.key)?.isLoading) {
      return;
    }
    const before = this._open.get(item.key);
    this._show(item, before ? { ...before, isLoading: true, problem: null } : LOADING);
    await this._read(item, refresh);
  }

  close(item: IDataItem): void {
    this._open.delete(item.key);
    this._tell();
  }

  /** Read the database of an open source again, and what is shown of it. */
  async refresh(item: IDataItem): Promise<void> {
    const [source] = this._sources.filter(one => one.key === item.source.key).map(sourceItem);
    if (source) {
      await this.open(source, true);
      await this._readBelow(source);
    }
  }

  /** Read the taps again, and all open databases. */
  async refreshAll(): Promise<void> {
    await this.taps.refresh();
    const items = this._sources.map(sourceItem).filter(item => this._open.has(item.key));
    await Promise.all(items.map(item => this.refresh(item)));
  }

  /** Open the items with these keys, from the top; those that are gone are skipped. */
  async restore(keys: Iterable<string>): Promise<void> {
    const wanted = new Set(keys);
    const below = async (items: readonly IDataItem[]): Promise<void> => {
      for (const item of items.filter(one => wanted.has(one.key))) {
        await this.open(item);
        await below(this._open.get(item.key)?.items ?? []);
      }
    };
    await below(this._sources.map(sourceItem));
  }

  private async _allTaps(signal: AbortSignal): Promise<ITap[]> {
    const taps: ITap[] = [];
    let page: number | null = 1;
    while (page !== null) {
      const query = { page, per_page: TAPS };
      const answer: ITapList = await this._requests.get('db_taps', query, signal);
      taps.push(...answer.db_taps);
      page = answer.paging_info.next_page;
    }
    return taps;
  }

  private _onTaps(): void {
    const { value } = this.taps.state;
    if (value) {
      const before = this._sources;
      this._sources = sourcesOf(value, this._hiveName);
      const isSame = JSON.stringify(before) === JSON.stringify(this._sources);
      if (isSame) {
        return;
      }
      for (const { key, tap } of before) {
        const now = this._sources.find(one => one.key === key)?.tap;
        if (JSON.stringify(now) !== JSON.stringify(tap)) {
          this._forget(key);
        }
      }
    }
    this._tell();
  }

  /** Forget what was read of a tap that is gone or has changed; it is read again when it is opened. */
  private _forget(source: string): void {
    this._readers.delete(source);
    this._seen.delete(source);
    for (const key of this._open.keys()) {
      if ((JSON.parse(key) as string[])[0] === source) {
        this._open.delete(key);
      }
    }
  }

  /** Read again what is shown of the sources whose catalogue has a new version. */
  private async _follow(taps: readonly ITap[]): Promise<void> {
    const items = sourcesOf(taps, this._hiveName).map(sourceItem);
    await Promise.all(
      items.map(async item => {
        const branch = this._open.get(item.key);
        if (!branch || branch.isLoading || !this._reader(item.source).hasCatalogue) {
          return;
        }
        const before = this._seen.get(item.source.key);
        const now = await this._reader(item.source)
          .overview(0, false)
          .catch(() => before);
        const key = (one?: ICatalogue): string =>
          JSON.stringify([one?.version, one?.state, one?.error, one?.as_of]);
        if (key(now) !== key(before)) {
          await this._read(item, false);
          await this._readBelow(item);
        }
      })
    );
  }

  private async _readBelow(source: IDataItem): Promise<void> {
    const below = this.rows.filter(
      ({ kind, item }) =>
        kind === 'item' && item.kind !== 'source' && item.source.key === source.source.key
    );
    const open = below.filter(({ item }) => this._open.has(item.key));
    await Promise.all(open.map(({ item }) => this._read(item, false)));
  }

  private async _read(item: IDataItem, refresh: boolean): Promise<void> {
    let branch: IBranch;
    try {
      branch = await this._branchOf(item, refresh);
    } catch (reason) {
      const items = this._open.get(item.key)?.items ?? [];
      const problem = asServiceError(reason).message;
      branch = { ...LOADING, items, isLoading: false, problem };
    }
    if (this._open.has(item.key)) {
      this._show(item, branch);
    }
  }

  private async _branchOf(item: IDataItem, refresh: boolean): Promise<IBranch> {
    const { source, schema, table } = item;
    const reader = this._reader(source);
    const ready = { ...LOADING, isLoading: false };
    if (item.kind === 'source') {
      const catalogue = await this._catalogue(item, refresh);
      this._seen.set(source.key, catalogue);
      if (catalogue.state === 'failed' && catalogue.version === null) {
        return { ...ready, problem: catalogue.error ?? '' };
      }
      const only = catalogue.schemas.length === 1 ? catalogue.schemas[0] : undefined;
      const items =
        only?.name === ''
          ? (await reader.tables('')).map(one => tableItem(source, one, ''))
          : catalogue.schemas.map(({ name, tables }) =>
              schemaItem(source, name, tables < 0 ? null : tables)
            );
      return { ...ready, items, outdated: catalogue.error ?? null };
    }
    if (item.kind === 'schema') {
      const defaultSchema = this._seen.get(source.key)?.default_schema ?? null;
      const tables = await reader.tables(schema);
      return { ...ready, items: tables.map(one => tableItem(source, one, defaultSchema)) };
    }
    const columns = await reader.columns(schema, table);
    return columns === null
      ? { ...ready, isUntold: true }
      : { ...ready, items: columns.map(one => columnItem(item, one)) };
  }

  /** Return the catalogue of a source, as soon as it is read for the first time. */
  private async _catalogue(item: IDataItem, refresh: boolean): Promise<ICatalogue> {
    const reader = this._reader(item.source);
    let catalogue = await reader.overview(refresh ? WAIT : 0, refresh);
    while (catalogue.state === 'filling' && this._open.has(item.key)) {
      const before = this._open.get(item.key) ?? LOADING;
      if (!before.isFilling) {
        this._show(item, { ...before, isFilling: true });
      }
      catalogue = await reader.overview(WAIT, false);
    }
    return catalogue;
  }

  private async _findIn(source: ISource, text: string): Promise<IFoundSource | null> {
    const isNamed = source.name.toLowerCase().includes(text);
    const found =
      source.tap?.active === false
        ? []
        : ((await this._reader(source)
            .find(text)
            .catch(() => null)) ?? []);
    const defaultSchema = this._seen.get(source.key)?.default_schema ?? null;
    const tables = found.map(one => {
      const table = tableItem(source, one.table, defaultSchema);
      return { table, columns: one.columns.map(column => columnItem(table, column)) };
    });
    return isNamed || tables.length > 0 ? { source: sourceItem(source), tables } : null;
  }

  private _reader(source: ISource): SourceReader {
    let reader = this._readers.get(source.key);
    if (!reader) {
      reader = new SourceReader(this._requests, source);
      this._readers.set(source.key, reader);
    }
    return reader;
  }

  private _show(item: IDataItem, branch: IBranch): void {
    this._open.set(item.key, branch);
    this._tell();
  }

  private _tell(): void {
    this._rows = null;
    this._changed.emit();
  }
}
