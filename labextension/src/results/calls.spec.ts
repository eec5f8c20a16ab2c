import type { ServiceRequests } from '../service';
import { type IPart, ResultCalls } from './calls';
import { ResultModel } from './model';
import { ALL_ROWS } from './query';

/** Calls for a table of command 7, and the part of each question that names it. */
function asking(part?: IPart): { calls: ResultCalls; asked: [string, unknown][] } {
  const asked: [string, unknown][] = [];
  const named = (query: Record<string, unknown>): unknown =>
    Object.fromEntries(Object.entries(query).filter(([name]) => ['dump', 'table'].includes(name)));
  const get = (path: string, query: Record<string, unknown>): Promise<unknown> => {
    asked.push([path, named(query)]);
    return Promise.resolve({});
  };
  const send = (
    _method: string,
    path: string,
    options: { query: Record<string, unknown> }
  ): unknown => {
    asked.push([path, named(options.query)]);
    return Promise.resolve({ blob: () => new Blob() });
  };
  const requests = { get, send } as unknown as ServiceRequests;
  return { calls: new ResultCalls(requests, 7, part), asked };
}

async function everything(calls: ResultCalls): Promise<void> {
  await calls.first();
  await calls.value(ALL_ROWS, 0, 'a');
  await calls.statistics(ALL_ROWS, 'a/b %');
  await calls.points(ALL_ROWS, 'line', 'a', 'b', new AbortController().signal);
  await calls.file('CSV');
}

const PATHS = ['rows', 'rows/value', 'columns/a%2Fb%20%25/summary', 'rows/points', 'results'].map(
  path => `commands/7/${path}`
);

describe('ResultCalls', () => {
  it.each([{}, { dump: 'late' }, { table: 2 }])(
    'names the table in every question: %p',
    async part => {
      const { calls, asked } = asking(part);
      await everything(calls);
      expect(asked).toEqual(PATHS.map(path => [path, part]));
    }
  );

  it('names the table in code, unless the notebook has a variable of it', () => {
    const words = (part: IPart, variable?: string): readonly string[] => {
      const model = new ResultModel(asking(part).calls, { variable: variable ?? null });
      model.dispose();
      return model.codeWords;
    };
    expect(words({})).toEqual(['7']);
    expect(words({ dump: 'late' })).toEqual(['7', '--dump=late']);
    expect(words({ table: 2 })).toEqual(['7', '--table=2']);
    expect(words({ table: 2 }, 'delays')).toEqual(['delays']);
  });
});
