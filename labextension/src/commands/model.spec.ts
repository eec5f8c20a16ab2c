import type { ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import { CommandsModel, NO_FILTER } from './model';

const SECOND = 1_000;

/** A service with this many commands; the newest has the highest id. */
class History {
  records: ICommand[] = [];
  searches = true;
  asked: { path: string; query: Record<string, unknown> }[] = [];

  constructor(count: number) {
    this.add(count);
  }

  add(count: number, fields: Partial<ICommand> = {}): void {
    for (let number = 0; number < count; number++) {
      const id = this.records.length + 1;
      this.records.push({
        id,
        status: 'done',
        name: `command ${id}`,
        command: {},
        ...fields
      } as ICommand);
    }
  }

  change(id: number, fields: Partial<ICommand>): void {
    this.records = this.records.map(record =>
      record.id === id ? { ...record, ...fields } : record
    );
  }

  get requests(): ServiceRequests {
    const get = (path: string, query: Record<string, number | string>): Promise<unknown> => {
      this.asked.push({ path, query });
      if (path !== 'commands') {
        return Promise.resolve({ ...this.records[Number(path.split('/')[1]) - 1] });
      }
      const {
        page,
        per_page: size,
        status = '',
        search = '',
        name = ''
      } = query as {
        page: number;
        per_page: number;
        status?: string;
        search?: string;
        name?: string;
      };
      const found = [...this.records]
        .reverse()
        .filter(
          record =>
            (status === '' || record.status === status) &&
            (record.name ?? '').includes(name) &&
            (!this.searches || (record.name ?? '').includes(search))
        );
      const next = page * size < found.length ? page + 1 : null;
      const commands = found.slice((page - 1) * size, page * size).map(record => ({ ...record }));
      return Promise.resolve({
        commands,
        paging_info: { page, per_page: size, next_page: next, previous_page: null }
      });
    };
    return { get, put: () => Promise.resolve({ result: 'killed' }) } as unknown as ServiceRequests;
  }
}

describe('CommandsModel', () => {
  let history: History;
  let model: CommandsModel;

  beforeEach(() => {
    jest.useFakeTimers();
    history = new History(250);
    model = new CommandsModel(history.requests, 3 * SECOND);
  });

  afterEach(() => {
    model.dispose();
    jest.useRealTimers();
  });

  const ids = (): number[] => (model.resource.state.value ?? []).map(({ id }) => id);
  const pass = (seconds: number): Promise<void> =>
    jest.advanceTimersByTimeAsync(seconds * SECOND + 1);

  it('has the newest page first, and the older ones as they are scrolled to', async () => {
    model.resource.watch();
    await pass(0);
    expect(ids()).toHaveLength(100);
    expect(model.hasMore).toBe(true);
    await model.loadMore();
    await model.loadMore();
    await model.loadMore();
    expect(ids()).toHaveLength(250);
    expect([ids()[0], ids()[249]]).toEqual([250, 1]);
    expect(model.hasMore).toBe(false);
    expect(history.asked.map(({ query }) => query.page)).toEqual([1, 2, 3]);
  });

  it('puts new ones on top and keeps the pages below', async () => {
    model.resource.watch();
    await pass(0);
    await model.loadMore();
    history.add(1);
    await pass(3);
    expect(ids()[0]).toBe(251);
    expect(ids()).toHaveLength(200);
  });

  it('keeps the record that did not change as it is, so that nothing is drawn anew', async () => {
    model.resource.watch();
    await pass(0);
    const before = model.resource.state.value;
    history.add(1);
    await pass(3);
    expect(model.resource.state.value?.[1]).toBe(before?.[0]);
  });

  it('looks at those further down that have not ended', async () => {
    history.change(60, { status: 'running' });
    model.resource.watch();
    await pass(0);
    await model.loadMore();
    expect(model.activeCount).toBe(1);
    history.change(60, { status: 'done' });
    await pass(3);
    expect(model.activeCount).toBe(0);
    expect(history.asked.at(-1)?.path).toBe('commands/60');
  });

  it('begins anew when more came meanwhile than a page holds', async () => {
    model.resource.watch();
    await pass(0);
    await model.loadMore();
    history.add(300);
    await pass(3);
    expect(ids()).toHaveLength(100);
    expect(ids()[0]).toBe(550);
  });

  it('forgets the others when another filter is wanted', async () => {
    history.change(240, { status: 'error' });
    model.resource.watch();
    await pass(0);
    model.filter = { ...NO_FILTER, status: 'error' };
    expect(ids()).toEqual([]);
    await pass(0);
    expect(ids()).toEqual([240]);
    history.change(240, { status: 'cancelled' });
    await pass(3);
    expect(ids()).toEqual([]);
  });

  it.each([true, false])('searches the whole history; the service can: %s', async searches => {
    history.searches = searches;
    model.resource.watch();
    await pass(0);
    model.filter = { ...NO_FILTER, search: 'command 7' };
    expect(model.resource.state.value).toBeUndefined();
    await pass(0);
    expect(ids()).toEqual([79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 7]);
  });

  it('holds no more after an hour in which a command came every second', async () => {
    model.resource.watch();
    await pass(0);
    await model.loadMore();
    for (let minute = 0; minute < 60; minute++) {
      history.add(60);
      await pass(60);
      expect(ids().length).toBeLessThanOrEqual(200);
    }
    expect(ids()[0]).toBe(250 + 3600);
  });

  it('asks nothing while it is not shown', async () => {
    const watch = model.resource.watch();
    await pass(0);
    watch.dispose();
    const before = history.asked.length;
    await pass(3600);
    expect(history.asked).toHaveLength(before);
  });
});
