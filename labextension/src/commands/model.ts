import { JSONExt, type ReadonlyJSONValue, UUID } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { type ISignal, Signal } from '@lumino/signaling';
import { Resource, type ServiceRequests } from '../service';
import {
  type CommandStatus,
  hasEnded,
  type ICommand,
  type ICommandPage
} from '../service/records/commands';

/** A filter of the command list. */
export interface ICommandFilter {
  /** All users' commands, not only the caller's. */
  allUsers: boolean;
  /** Empty for every status. */
  status: CommandStatus | '';
  /** Part of the name or the text, the id, or a tag, in lower case; empty for all. */
  search: string;
}

/** No filter: all of the caller's commands. */
export const NO_FILTER: ICommandFilter = { allUsers: false, status: '', search: '' };

const PER_PAGE = 100;
/** Maximum number of running commands outside the first page that each refresh reads individually. */
const STRAYS = 20;

/**
 * The history of commands, newest first, as far as the user has scrolled.
 *
 * Each refresh reads the newest page and the older commands that have not ended; older pages are read once, when
 * scrolled to. Memory is limited to what was scrolled to, however long the page stays open.
 */
export class CommandsModel implements IDisposable {
  /** The known commands, newest first. */
  readonly resource: Resource<readonly ICommand[]>;
  private readonly _filterChanged = new Signal<this, void>(this);
  private _filter = NO_FILTER;
  /** Whether the service searches; null before the first search. */
  private _canSearch: boolean | null = null;
  private _pages = 1;
  private _hasMore = false;
  private _isLoadingMore = false;

  constructor(
    private readonly _requests: ServiceRequests,
    interval = 3_000
  ) {
    this.resource = new Resource({
      name: 'commands',
      fetch: signal => this._read(signal),
      interval
    });
  }

  get filter(): ICommandFilter {
    return this._filter;
  }

  /** Set the filter and discard the previous commands. */
  set filter(filter: ICommandFilter) {
    if (!JSONExt.deepEqual({ ...filter }, { ...this._filter })) {
      this._filter = filter;
      this._pages = 1;
      this._hasMore = false;
      this.resource.clear();
      this._filterChanged.emit();
      void this.resource.refresh();
    }
  }

  /** Emitted with another filter. */
  get filterChanged(): ISignal<this, void> {
    return this._filterChanged;
  }

  /** Whether there are older commands to load. */
  get hasMore(): boolean {
    return this._hasMore;
  }

  /** The number of commands that have not ended. */
  get activeCount(): number {
    return (this.resource.state.value ?? []).filter(command => !hasEnded(command)).length;
  }

  get isDisposed(): boolean {
    return this.resource.isDisposed;
  }

  dispose(): void {
    this.resource.dispose();
    Signal.clearData(this);
  }

  /** Read the next older page, unless there is none or one is being read. A failure leaves the list unchanged. */
  async loadMore(): Promise<void> {
    if (!this._hasMore || this._isLoadingMore || this.isDisposed) {
      return;
    }
    this._isLoadingMore = true;
    const filter = this._filter;
    try {
      const page = await this._page(this._pages + 1);
      if (filter === this._filter) {
        this._pages += 1;
        this._hasMore = page.paging_info.next_page !== null;
        this.resource.set(merged(this.resource.state.value ?? [], page.commands));
      }
    } catch {
      // The next scroll retries; a failure of the newest page is shown by its own resource.
    } finally {
      this._isLoadingMore = false;
    }
  }

  /** Cancel a command. Returns the service's answer. */
  async cancel(id: number): Promise<string> {
    const { result } = await this._requests.put<{ result: string }>(`commands/${id}`, {
      status: 'kill'
    });
    await this.resource.refresh();
    return result;
  }

  private async _read(signal: AbortSignal): Promise<readonly ICommand[]> {
    const filter = this._filter;
    const page = await this._page(1, signal);
    const known = this.resource.state.value ?? [];
    const strays = await this._strays(known, page.commands, signal);
    if (filter !== this._filter) {
      return this.resource.state.value ?? [];
    }
    const ids = new Set(page.commands.map(({ id }) => id));
    // So many new commands that the newest page does not reach the known ones: start again.
    const hasGap = !known.some(({ id }) => ids.has(id));
    if (hasGap || this._pages === 1) {
      this._pages = 1;
      this._hasMore = page.paging_info.next_page !== null;
      return merged(known, page.commands).filter(({ id }) => ids.has(id));
    }
    return merged(known, [...page.commands, ...strays])
      .filter(({ status }) => filter.status === '' || status === filter.status)
      .slice(0, this._pages * PER_PAGE);
  }

  private async _strays(
    known: readonly ICommand[],
    newest: ICommand[],
    signal: AbortSignal
  ): Promise<ICommand[]> {
    const ids = new Set(newest.map(({ id }) => id));
    const strays = known
      .filter(command => !hasEnded(command) && !ids.has(command.id))
      .slice(0, STRAYS);
    return Promise.all(
      strays.map(({ id }) => this._requests.get<ICommand>(`commands/${id}`, {}, signal))
    );
  }

  private async _page(page: number, signal?: AbortSignal): Promise<ICommandPage> {
    const { allUsers, status, search } = this._filter;
    const query = { page, per_page: PER_PAGE, all_users: allUsers ? 1 : 0, status };
    if (search === '') {
      return this._requests.get('commands', query, signal);
    }
    this._canSearch ??= await this._probe();
    const wanted = this._canSearch ? { search } : { name: search };
    return this._requests.get('commands', { ...query, ...wanted }, signal);
  }

  /** Return whether the service searches: one without our extension answers with commands that have no such text. */
  private async _probe(): Promise<boolean> {
    const query = { page: 1, per_page: 1, all_users: 1, search: UUID.uuid4() };
    return (await this._requests.get<ICommandPage>('commands', query)).commands.length === 0;
  }
}

/** Return commands in display order: those that have not ended, then the others, each newest first. */
export function inOrder(commands: readonly ICommand[]): readonly ICommand[] {
  return [
    ...commands.filter(command => !hasEnded(command)),
    ...commands.filter(command => hasEnded(command))
  ];
}

/** Return both lists merged, newest first; an unchanged record stays the same object. */
export function merged(known: readonly ICommand[], read: readonly ICommand[]): readonly ICommand[] {
  const byId = new Map(known.map(command => [command.id, command]));
  for (const command of read) {
    const before = byId.get(command.id);
    if (before === undefined || !sameRecord(before, command)) {
      byId.set(command.id, command);
    }
  }
  return [...byId.values()].sort((one, other) => other.id - one.id);
}

function sameRecord(one: ICommand, other: ICommand): boolean {
  return JSONExt.deepEqual(
    one as unknown as ReadonlyJSONValue,
    other as unknown as ReadonlyJSONValue
  );
}

/** The stored state of the section between visits. */
export interface ICommandsMemory {
  filter: ICommandFilter;
  /** Key of the selected command. */
  selected: string | null;
}

const STATUSES = ['', 'waiting', 'running', 'done', 'error', 'cancelled'];

/** Return the stored state, ignoring invalid parts. */
export function memoryOf(kept: unknown): ICommandsMemory {
  const { filter, selected } = fields(kept);
  const { allUsers, status } = fields(filter);
  return {
    filter: {
      allUsers: allUsers === true,
      status: STATUSES.includes(status as string)
        ? (status as ICommandFilter['status'])
        : NO_FILTER.status,
      search: NO_FILTER.search
    },
    selected: typeof selected === 'string' ? selected : null
  };
}

function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
