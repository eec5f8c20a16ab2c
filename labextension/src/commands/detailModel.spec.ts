import { ServiceError, type ServiceRequests } from '../service';
import { CommandDetailModel, type ICommandView } from './detailModel';

const DONE = { id: 7, command_type: 'DbTapQueryCommand', status: 'done', progress: 100 };
const ROWS = 'carrier,flights\nUA,58665\nB6,54635\n';

/** A service with one finished command; `results` are the answers to requests for its result, in order. */
function service(results: (string | ServiceError)[], logLength = 0): ServiceRequests {
  const send = (_: string, path: string, options: { query?: object } = {}): Promise<Response> => {
    if (path.endsWith('/results')) {
      const answer = results.shift() ?? '';
      return answer instanceof ServiceError
        ? Promise.reject(answer)
        : Promise.resolve(new Response(answer, { headers: { 'Content-Type': 'text/csv' } }));
    }
    const headers = { 'Content-Type': 'text/plain', log_length: String(logLength) };
    return Promise.resolve(
      new Response('err_file_processed' in (options.query ?? {}) ? 'half\nwhole\n' : '', {
        headers
      })
    );
  };
  const get = (path: string): Promise<unknown> =>
    path.endsWith('/rows')
      ? Promise.reject(new ServiceError('Not Found', 404))
      : Promise.resolve(DONE);
  return { send, get } as unknown as ServiceRequests;
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
    const model = new CommandDetailModel(service([ROWS], 5_000_000), 7);
    model.watch();
    const { log } = await until(model, view => view.log.text !== '');
    expect(log).toEqual({ text: 'whole\n', isCut: true });
    model.dispose();
  });
});
