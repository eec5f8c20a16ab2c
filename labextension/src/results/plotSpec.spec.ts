import { nullTranslator } from '@jupyterlab/translation';
import type { IChartPoint, IStatistics } from './calls';
import type { ResultModel } from './model';
import { defaultPlot, type IPlot, ofKind, plotKinds, plotSpec, readPlot } from './plotSpec';
import { ALL_ROWS } from './query';
import type { IColumn } from './values';

const DAY = { name: 'day', type: 'timestamp' };
const ORIGIN = { name: 'origin.of[it]', type: 'text' };
const DELAY = { name: 'delay', type: 'number' };
const COLUMNS = [DAY, ORIGIN, DELAY];
const trans = nullTranslator.load('');

function point(x: IChartPoint['x'], y: IChartPoint['y'], count = 1): IChartPoint {
  return { x, y, low: y, high: y, count };
}

/** What is drawn where the service finds these points in so many rows. */
function drawn(
  kind: IPlot['kind'],
  x: IColumn,
  points: IChartPoint[],
  total: number,
  isCut = false
) {
  const model = {
    state: { columns: COLUMNS, shown: ALL_ROWS },
    calls: { points: () => Promise.resolve({ x, y: DELAY, points, total, is_cut: isCut }) }
  } as unknown as ResultModel;
  const plot = { kind, x: x.name, y: DELAY.name };
  return readPlot(model, plot, new AbortController().signal, trans);
}

/** What is drawn where a column has these statistics. */
function drawnHistogram(x: IColumn, statistics: Partial<IStatistics>) {
  const model = {
    state: { columns: COLUMNS, total: 1234 },
    askStatistics: () => Promise.resolve(statistics)
  } as unknown as ResultModel;
  const plot = { kind: 'histogram', x: x.name, y: '' } as const;
  return readPlot(model, plot, new AbortController().signal, trans);
}

describe('the chart to begin with', () => {
  it('takes times before words, and a histogram where there is nothing else', () => {
    expect(defaultPlot([ORIGIN, DAY, DELAY])).toEqual({ kind: 'line', x: 'day', y: 'delay' });
    expect(defaultPlot([ORIGIN, DELAY])).toEqual({ kind: 'bar', x: ORIGIN.name, y: 'delay' });
    expect(defaultPlot([ORIGIN])).toEqual({ kind: 'histogram', x: ORIGIN.name, y: '' });
  });

  it('is of a kind that the columns allow', () => {
    expect(plotKinds(COLUMNS)).toEqual(['line', 'bar', 'histogram', 'scatter']);
    expect(plotKinds([ORIGIN, DAY])).toEqual(['histogram']);
    expect(plotKinds([{ name: 'list', type: 'nested' }])).toEqual([]);
  });
});

describe('ofKind', () => {
  const bars = { kind: 'bar', x: ORIGIN.name, y: 'delay' } as const;

  it('takes another column only where the kind needs one', () => {
    expect(ofKind(bars, 'line', COLUMNS)).toEqual({ kind: 'line', x: 'day', y: 'delay' });
    expect(ofKind(bars, 'histogram', COLUMNS).x).toBe(ORIGIN.name);
  });

  it('puts a column over itself only where there is no other', () => {
    const histogram = { kind: 'histogram', x: 'delay', y: 'delay' } as const;
    expect(ofKind(histogram, 'line', COLUMNS).x).toBe('day');
    expect(ofKind(histogram, 'line', [DELAY]).x).toBe('delay');
    expect(ofKind(histogram, 'histogram', COLUMNS).x).toBe('delay');
  });
});

describe('readPlot', () => {
  it('leaves a gap in a line where there is no number', async () => {
    const points = [
      point('2026-01-01T00:00:00', 1),
      point('2026-01-02T00:00:00', null, 0),
      point('2026-01-03T00:00:00', '2.5')
    ];
    const { marks, words } = await drawn('line', DAY, points, 3);
    expect(marks.map(({ y }) => y)).toEqual([1, null, 2.5]);
    expect(words).toBe('delay over day · 2 of 3 rows');
  });

  it.each([
    ['2026-03-29T02:30:00', Date.UTC(2026, 2, 29, 2, 30)],
    ['2026-03-29T02:30:00.5Z', Date.UTC(2026, 2, 29, 2, 30, 0, 500)],
    ['2026-03-29', Date.UTC(2026, 2, 29)],
    ['10000-01-01', null],
    [null, null]
  ])('puts the time %s where it is written, in every zone', async (text, place) => {
    const { marks } = await drawn('line', DAY, [point(text, 1)], 1);
    expect(marks[0]?.x).toBe(place);
  });

  it('says of how many rows a point is the mean', async () => {
    const { marks, up, words } = await drawn('line', DAY, [point('2026-01-01', 7, 1234)], 1234);
    expect(up).toBe('mean of delay');
    expect(words).toBe(
      'mean of delay over day, in a band from the least to the largest · all 1,234 rows'
    );
    expect(marks[0]).toMatchObject({ across: '2026-01-01', height: '7', rows: '1,234' });
  });

  it('says that there are more bars than it draws', async () => {
    const points = Array.from({ length: 50 }, (_, index) => point(`v${index}`, index));
    expect((await drawn('bar', ORIGIN, points, 80, true)).words).toBe(
      `delay for the first 50 values of ${ORIGIN.name} · 50 of 80 rows`
    );
    expect((await drawn('bar', ORIGIN, points, 50)).words).toBe(
      `delay for each ${ORIGIN.name} · all 50 rows`
    );
  });

  it('draws a histogram of numbers, and the frequencies of words', async () => {
    const numbers = await drawnHistogram(DELAY, { histogram: [{ from: 0, to: 2, count: 1234 }] });
    expect(numbers.marks).toMatchObject([{ x: 0, to: 2, y: 1234, across: '0 – 2' }]);
    expect(numbers.words).toBe('histogram of delay · all 1,234 rows');
    const words = await drawnHistogram(ORIGIN, {
      histogram: [],
      top: [{ value: 'JFK', count: 7 }]
    });
    expect(words.marks).toMatchObject([{ x: 'JFK', to: null, y: 7 }]);
    expect(words.words).toBe(`the 1 most frequent values of ${ORIGIN.name} · 7 of 1,234 rows`);
  });

  it('draws a bar for each of a few numbers or days', async () => {
    const months = [7, 8].map(month => ({ from: month, to: month, count: month }));
    const numbers = await drawnHistogram(DELAY, { histogram: months });
    expect(numbers.marks).toMatchObject([
      { x: '7', to: null, y: 7 },
      { x: '8', to: null, y: 8 }
    ]);
    const days = [
      { from: '2026-01-01', to: '2026-01-02', count: 1 },
      { from: '2026-01-02', to: '2026-01-02', count: 2 }
    ];
    expect((await drawnHistogram(DAY, { histogram: days })).marks).toMatchObject([
      { x: '2026-01-01', to: null, y: 1 },
      { x: '2026-01-02', to: null, y: 2 }
    ]);
  });
});

describe('plotSpec', () => {
  async function spec(kind: IPlot['kind'], x: IColumn, points: IChartPoint[]) {
    const data = await drawn(kind, x, points, 10);
    return JSON.parse(JSON.stringify(plotSpec(data, 10, 10, trans))) as {
      encoding: { x: object };
      layer: { mark: { type: string } }[];
    };
  }

  it('never takes the name of a column for a path', async () => {
    const { encoding } = await spec('bar', ORIGIN, [point('a', 1)]);
    expect(encoding.x).toMatchObject({ field: 'x', title: ORIGIN.name, type: 'nominal' });
  });

  it('draws times in UTC, and the band only where a point is of several rows', async () => {
    const one = await spec('line', DAY, [point('2026-01-01', 1)]);
    expect(one.encoding.x).toMatchObject({ type: 'temporal', scale: { type: 'utc' } });
    expect(one.layer.map(({ mark }) => mark.type)).toEqual(['line']);
    const many = await spec('line', DAY, [point('2026-01-01', 1, 2)]);
    expect(many.layer.map(({ mark }) => mark.type)).toEqual(['area', 'line']);
  });

  it('draws bars of ranges from their beginning to their end', async () => {
    const points = [{ ...point(0, 1), to: 2 }];
    const { layer } = await spec('bar', DELAY, points);
    expect(layer[0]).toMatchObject({ encoding: { x2: { field: 'to' }, y2: { datum: 0 } } });
    expect((await drawn('bar', DELAY, points, 1)).words).toBe('delay in ranges of delay · 1 row');
  });
});
