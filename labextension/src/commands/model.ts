import { JSONExt, type ReadonlyJSONValue } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import { Resource, type ServiceRequests } from '../service';
import {
  type CommandStatus,
  hasEnded,
  type ICommand,
  type ICommandPage
} from '../service/records/commands';

/** Which commands are wanted. */
export interface ICommandFilter {
  /** Everybody's, not only one's own. */
  allUsers: boolean;
  /** Empty for every status. */
  status: CommandStatus | '';
  /** Part of the name; empty for every name. */
  name: string;
}

/** Without a filter: all of one's own. */
export const NO_FILTER: ICommandFilter = { allUsers: false, status: '', name: '' };

const PER_PAGE = 100;
/** Commands that still run but are no longer on the first page, of which as many are looked at each time. */
const STRAYS = 20;

/**
 * The history of commands, newest first, as far as it was scrolled to.
 *
 * Each reading asks for the newest page and for those further down that have not ended; pages further down are read
 * once, when they are scrolled to. No more is kept than was scrolled to, however long the page is open.
 */
export class CommandsModel implements IDisposable {
  /** What is known, newest first. */
  readonly resource: Resource<readonly ICommand[]>;
  private _filter = NO_FILTER;
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

  /** Want others; what was known of the ones before is forgotten. */
  set filter(filter: ICommandFilter) {
    if (!JSONExt.deepEqual({ ...filter }, { ...this._filter })) {
      this._filter = filter;
      this._pages = 1;
      this._hasMore = false;
      this.resource.set([]);
      void this.resource.refresh();
    }
  }

  /** Whether there are older ones than those that are known. */
  get hasMore(): boolean {
    return this._hasMore;
  }

  /** How many have not ended. */
  get activeCount(): number {
    return (this.resource.state.value ?? []).filter(command => !hasEnded(command)).length;
  }

  get isDisposed(): boolean {
    return this.resource.isDisposed;
  }

  dispose(): void {
    this.resource.dispose();
  }

  /** Read the next older page, unless there is none or one is being read. A failure leaves the list as it is. */
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
      // It is asked for again by the next scroll; the newest page's own failure is shown.
    } finally {
      this._isLoadingMore = false;
    }
  }

  /** Cancel a command. Returns what the service says of it. */
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
    // So many came since the last reading that the newest page does not reach what is known: begin anew.
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

  private _page(page: number, signal?: AbortSignal): Promise<ICommandPage> {
    const { allUsers, status, name } = this._filter;
    const query = { page, per_page: PER_PAGE, all_users: allUsers ? 1 : 0, status, name };
    return this._requests.get<ICommandPage>('commands', query, signal);
  }
}

/** Return both together, newest first; a record that did not change stays the same object. */
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
