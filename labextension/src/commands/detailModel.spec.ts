import { ServiceError, type ServiceRequests } from '../service';
import { CommandDetailModel, type ICommandView } from './detailModel';

const DONE = { id: 7, command_type: 'DbTapQueryCommand', status: 'done', progress: 100 };
const ROWS = 'carrier,flights\nUA,58665\nB6,54635\n';

interface IOther {
  command?: object;
  /** The answer to a request for the result as JSON. */
  text?: object;
  rows?: object;
  /** The stream of events; without one there are none. */
  events?: string;
  log?: string | ServiceError;
  logLength?: number;
}

/** A service with one finished command; `results` are the answers to requests for its rows as CSV, in order. */
function service(results: (string | ServiceError)[], other: IOther = {}): ServiceRequests {
  const { log = 'half\nwhole\n', logLength = 0 } = other;
  const send = (_: string, path: string): Promise<Response> => {
    if (path.endsWith('/results')) {
      const answer = results.shift() ?? '';
      return answer instanceof ServiceError
        ? Promise.reject(answer)
        : Promise.resolve(new Response(answer, { headers: { 'Content-Type': 'text/csv' } }));
    }
    if (log instanceof ServiceError && path.endsWith('/logs')) {
      return Promise.reject(log);
    }
    const isStream = path.endsWith('/events');
    const type = isStream && other.events !== undefined ? 'text/event-stream' : 'text/plain';
    const headers = { 'Content-Type': type, log_length: String(logLength) };
    return Promise.resolve(
      new Response(isStream ? (other.events ?? '') : (log as string), { headers })
    );
  };
  const get = (path: string): Promise<unknown> => {
    if (path.endsWith('/rows') && other.rows === undefined) {
      return Promise.reject(new ServiceError('Not Found', 404));
    }
    const answers = { rows: other.rows, results: other.text };
    const last = path.split('/').at(-1) as 'rows';
    return Promise.resolve(answers[last] ?? { ...DONE, ...other.command });
  };
  return { send, get } as unknown as ServiceRequests;
}

function event(name: string, data: object): string {
  return `event: ${name}\nid: 0\ndata: ${JSON.stringify(data)}\n\n`;
}

async function until(
  model: CommandDetailModel,
  holds: (view: ICommandView) => boolean
): Promise<ICommandView> {
  if (!holds(model.view)) {
    await new Promise<void>(resolve => model.changed.connect(() => holds(model.view) && resolve()));
  }
  return model.view;
}

describe('CommandDetailModel', () => {
  it('reads the first rows once the command is done, from a service that does not page them', async () => {
    const model = new CommandDetailModel(service([ROWS]), 7);
    model.watch();
    const { result } = await until(model, view => view.result !== null);
    expect(result?.kind === 'rows' && result.rows.state).toMatchObject({
      columns: [{ name: 'carrier' }, { name: 'flights' }],
      total: 2,
      isPaged: false
    });
    model.dispose();
  });

  it('has the tables before the last one, or the one that is wanted alone', async () => {
    const dumps = ['months', 'late'].map(alias => ({ alias, rows: 12, size: 1, columns: [] }));
    const rows = { columns: [{ name: 'n', type: 'integer' }], rows: [[1]], offset: 0, total: 1 };
    const dumping = service([], { command: { outputs: { dumps } }, rows });
    const all = new CommandDetailModel(dumping, 7);
    all.watch();
    const { result } = await until(all, view => view.result !== null);
    const [last, before] = result?.kind === 'rows' ? [result.rows, result.before] : [];
    expect([last?.calls.part, last?.state.of]).toEqual([{}, 1]);
    expect(before?.map(({ calls, state }) => [calls.part, state.of])).toEqual([[{ dump: 1 }, 12]]);
    all.dispose();
    expect(before?.map(({ isDisposed }) => isDisposed)).toEqual([true]);

    const one = new CommandDetailModel(dumping, 7, { part: { dump: 'months' } });
    one.watch();
    const alone = (await until(one, view => view.result !== null)).result;
    expect(alone).toMatchObject({ rows: { calls: { part: { dump: 'months' } } }, before: [] });
    one.dispose();
  });

  it('reads a result again that could not be read', async () => {
    const away = new ServiceError('the service does not answer', 502);
    const model = new CommandDetailModel(service([away, ROWS]), 7);
    model.watch();
    const { resultError } = await until(model, view => view.resultError !== null);
    expect(resultError).toBe(away);
    model.readResult();
    const { result } = await until(model, view => view.result !== null);
    expect(result?.kind).toBe('rows');
    expect(model.view.resultError).toBeNull();
    model.dispose();
  });

  it('begins a long log at a whole line, and says that it is cut', async () => {
    const model = new CommandDetailModel(service([ROWS], { logLength: 5_000_000 }), 7);
    model.watch();
    const { log } = await until(model, view => view.log.text !== '');
    expect(log).toEqual({ text: 'whole\n', isCut: true });
    model.dispose();
  });

  it('has a log that is read when all of it is there, not before', async () => {
    const events = event('status', DONE) + event('log', { text: 'the log\n' }) + event('end', DONE);
    const model = new CommandDetailModel(service([ROWS], { events }), 7);
    const seen: [string | undefined, string, boolean][] = [];
    model.changed.connect(({ view: { command, log, isLogRead } }) =>
      seen.push([command?.status, log.text, isLogRead])
    );
    model.watch();
    await until(model, view => view.isLogRead);
    expect(seen[0]).toEqual(['done', '', false]);
    expect(seen.filter(([, text, isRead]) => isRead && text !== 'the log\n')).toEqual([]);
    model.dispose();
  });

  it('says why there is no log any more', async () => {
    const gone = new ServiceError('the log of command 7 was deleted on 2026-11-01', 404);
    const model = new CommandDetailModel(
      service([ROWS], { log: gone, events: event('end', DONE) }),
      7
    );
    model.watch();
    const view = await until(model, ({ isLogRead }) => isLogRead);
    expect(view.logError?.message).toBe('the log of command 7 was deleted on 2026-11-01');
    expect(view.error).toBeNull();
    model.dispose();
  });

  it('shows whole lines of a long text, says how long it is, and saves all of it', async () => {
    const line = 'x'.repeat(99);
    const results = `${line}\r\n`.repeat(3_000);
    const model = new CommandDetailModel(
      service([], {
        command: { command_type: 'ShellCommand' },
        text: { inline: true, results }
      }),
      7
    );
    model.watch();
    const { result } = await until(model, view => view.result !== null);
    expect(result).toEqual({ kind: 'text', text: `${line}\n`.repeat(2_000), length: 300_000 });
    expect((await model.wholeText()).size).toBe(300_000);
    expect(await (await model.wholeLog()).text()).toBe('half\nwhole\n');
    model.dispose();
  });

  it('shows a text that is too large for an answer as lines, or says where it is', async () => {
    const command = { command_type: 'ShellCommand' };
    const text = { inline: false, result_location: ['file:///results/7'] };
    const rows = {
      columns: [{ name: 'line', type: 'text' }],
      rows: [['x']],
      offset: 0,
      total: 9e6
    };
    const paged = new CommandDetailModel(service([], { command, text, rows }), 7);
    paged.watch();
    const { result } = await until(paged, view => view.result !== null);
    expect(result?.kind === 'rows' && result.rows.state.total).toBe(9e6);
    paged.dispose();

    const refused = new ServiceError('command 7 has no rows', 422);
    const bare = new CommandDetailModel(service([refused], { command, text }), 7);
    bare.watch();
    expect((await until(bare, view => view.result !== null)).result).toEqual({
      kind: 'elsewhere',
      locations: ['file:///results/7']
    });
    bare.dispose();
  });

  it('leaves the result unread where only the log is shown', async () => {
    const model = new CommandDetailModel(service([ROWS]), 7, { withResult: false });
    model.watch();
    const view = await until(model, ({ isLogRead }) => isLogRead);
    expect([view.command?.status, view.log.text, view.result]).toEqual([
      'done',
      'half\nwhole\n',
      null
    ]);
    model.dispose();
  });
});
