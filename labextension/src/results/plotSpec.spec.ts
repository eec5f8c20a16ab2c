import { nullTranslator } from '@jupyterlab/translation';
import type { ResultModel } from './model';
import { defaultPlot, type IPlot, plotSpec, readPlot } from './plotSpec';
import type { Row } from './values';

const DAY = { name: 'day', type: 'timestamp' };
const ORIGIN = { name: 'origin.of[it]', type: 'text' };
const DELAY = { name: 'delay', type: 'number' };

function drawn(plot: IPlot, rows: Row[]) {
  const state = { columns: [DAY, ORIGIN, DELAY], total: rows.length, reachable: rows.length };
  const model = { state, rows: () => Promise.resolve(rows) } as unknown as ResultModel;
  return readPlot(model, plot, new AbortController().signal, nullTranslator.load(''));
}

describe('defaultPlot', () => {
  it('takes times before words, and a histogram where there is nothing else', () => {
    expect(defaultPlot([ORIGIN, DAY, DELAY])).toEqual({ kind: 'line', x: 'day', y: 'delay' });
    expect(defaultPlot([ORIGIN, DELAY])).toEqual({ kind: 'bar', x: ORIGIN.name, y: 'delay' });
    expect(defaultPlot([ORIGIN])).toEqual({ kind: 'histogram', x: ORIGIN.name, y: '' });
  });
});

describe('readPlot', () => {
  it('leaves a gap in a line where there is no number', async () => {
    const rows = [
      ['2026-01-01', 1],
      ['2026-01-02', 'NaN'],
      ['2026-01-03', '2.5']
    ];
    const { points } = await drawn({ kind: 'line', x: 'day', y: 'delay' }, rows);
    expect(points.map(({ y }) => y)).toEqual([1, null, 2.5]);
  });

  it('draws the mean for each value, and says so', async () => {
    const rows = [
      ['a', 1],
      ['b', 5],
      ['a', 3]
    ];
    const plot = { kind: 'bar', x: ORIGIN.name, y: 'delay' } as const;
    const { points, up } = await drawn(plot, rows);
    expect(points).toEqual([
      { x: 'a', y: 2 },
      { x: 'b', y: 5 }
    ]);
    expect(up).toBe('mean of delay');
  });

  it('draws no more bars than can be told apart', async () => {
    const rows = Array.from({ length: 80 }, (_, index) => [`v${index}`, index]);
    const { points } = await drawn({ kind: 'bar', x: ORIGIN.name, y: 'delay' }, rows);
    expect(points).toHaveLength(50);
  });
});

describe('plotSpec', () => {
  it('never takes the name of a column for a path', () => {
    const data = { kind: 'bar', x: ORIGIN, up: 'delay', points: [], words: '' } as const;
    const spec = JSON.parse(JSON.stringify(plotSpec(data, 10, 10))) as {
      encoding: { x: { field: string; title: string; type: string } };
      width: number;
    };
    expect(spec.encoding.x).toMatchObject({ field: 'x', title: ORIGIN.name, type: 'nominal' });
    expect(spec.width).toBeGreaterThan(100);
  });
});
