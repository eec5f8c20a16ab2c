import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyJSONObject } from '@lumino/coreutils';
import type { ResultModel } from './model';
import { type IColumn, isMeasure, isNumber, type Value } from './values';
import { count } from '../words';
import { written } from './words';

/** The kinds of charts. */
export const PLOT_KINDS = ['line', 'bar', 'histogram'] as const;

/** A chart that is asked for; `y` is empty where no column has numbers. */
export interface IPlot {
  readonly kind: (typeof PLOT_KINDS)[number];
  readonly x: string;
  readonly y: string;
}

/** What a chart draws. */
export interface IPlotData {
  readonly kind: IPlot['kind'];
  readonly x: IColumn;
  /** The title of the axis up. */
  readonly up: string;
  readonly points: readonly ReadonlyJSONObject[];
  /** What is drawn, in words. */
  readonly words: string;
}

/** Rows that are drawn at most. */
const DRAWN_ROWS = 5_000;
/** Bars that can be distinguished. */
const DRAWN_BARS = 50;
/** Bars whose names have room beside each other. */
const UPRIGHT_BARS = 12;
/** Room for the axes and their labels. */
const AXES_WIDTH = 80;
const AXES_HEIGHT = 64;

/** Return the chart to begin with: times as a line, words as bars, a single number as its histogram. */
export function defaultPlot(columns: readonly IColumn[]): IPlot {
  const number = columns.find(({ type }) => isNumber(type));
  const time = columns.find(({ type }) => type === 'timestamp' || type === 'date');
  const word = columns.find(({ type }) => type === 'text' || type === 'boolean');
  const y = number?.name ?? '';
  if (number !== undefined && (time ?? word) !== undefined) {
    return { kind: time === undefined ? 'bar' : 'line', x: (time ?? word)?.name ?? '', y };
  }
  return { kind: 'histogram', x: (number ?? columns[0])?.name ?? '', y };
}

/** Read what a chart draws: a histogram from the statistics of all rows, others from the first rows. */
export async function readPlot(
  model: ResultModel,
  plot: IPlot,
  signal: AbortSignal,
  trans: TranslationBundle
): Promise<IPlotData> {
  const { columns, total } = model.state;
  const x = columns.find(({ name }) => name === plot.x) ?? { name: plot.x, type: 'text' };
  if (plot.kind === 'histogram') {
    const { histogram, top } = await model.askStatistics(plot.x);
    const points: ReadonlyJSONObject[] = histogram
      ? histogram.map(({ from, to, count: size }) => ({ x: from, to, y: size }))
      : (top ?? []).map(({ value, count: size }) => ({ x: written(x, value), y: size }));
    const words = histogram
      ? trans.__('histogram of %1, all %2 rows', plot.x, count(total))
      : trans.__('the %1 most frequent values of %2', count(points.length), plot.x);
    return {
      kind: plot.kind,
      x: histogram ? x : { ...x, type: 'text' },
      up: trans.__('rows'),
      points,
      words
    };
  }
  const end = Math.min(total, model.state.reachable, DRAWN_ROWS);
  const rows = plot.y === '' ? [] : await model.rows(0, end, [plot.x, plot.y], signal);
  const of = [plot.x, count(rows.length), count(total)] as const;
  if (plot.kind === 'line') {
    const points = rows.map(row => ({ x: row[0] ?? null, y: number(row[1]) }));
    const words = trans.__('%1 over %2, the first %3 of %4 rows', plot.y, ...of);
    return { kind: plot.kind, x, up: plot.y, points, words };
  }
  const bars = means(rows.map(row => [written(x, row[0] ?? null), number(row[1])]));
  const points = bars.slice(0, DRAWN_BARS).map(([name, mean]) => ({ x: name, y: mean }));
  const up = bars.length < rows.length ? trans.__('mean of %1', plot.y) : plot.y;
  const words =
    bars.length > DRAWN_BARS
      ? trans.__(
          '%1 for the first %5 values of %2, in the first %3 of %4 rows',
          up,
          ...of,
          DRAWN_BARS
        )
      : trans.__('%1 for each %2, in the first %3 of %4 rows', up, ...of);
  return { kind: plot.kind, x: { ...x, type: 'text' }, up, points, words };
}

/** Return the chart as Vega-Lite draws it, in a box of this size. */
export function plotSpec(data: IPlotData, width: number, height: number): ReadonlyJSONObject {
  const { kind, x, points } = data;
  const type = isNumber(x.type) ? 'quantitative' : isMeasure(x.type) ? 'temporal' : 'nominal';
  const isBinned = kind === 'histogram' && type !== 'nominal';
  // In quotes, a name with dots or brackets is no path; the fields have names of ours anyway, the titles theirs.
  const across = {
    field: 'x',
    type,
    title: x.name,
    ...(type === 'nominal' && {
      sort: null,
      axis: { labelLimit: 120, labelAngle: points.length <= UPRIGHT_BARS ? 0 : -45 }
    }),
    ...(isBinned && type === 'quantitative' && { bin: { binned: true } })
  };
  const up = {
    field: 'y',
    type: 'quantitative',
    title: data.up
  };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    width: Math.max(120, width - AXES_WIDTH),
    height: Math.max(80, height - AXES_HEIGHT),
    background: null,
    data: { values: [...points] },
    mark: { type: kind === 'line' ? 'line' : 'bar', tooltip: true },
    encoding: { x: across, ...(isBinned && { x2: { field: 'to' } }), y: up },
    usermeta: { embedOptions: { actions: false } }
  };
}

function number(value: Value | undefined): number | null {
  const found = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}

function means(pairs: readonly (readonly [string, number | null])[]): [string, number][] {
  const sums = new Map<string, { sum: number; size: number }>();
  for (const [name, value] of pairs) {
    if (value !== null) {
      const { sum, size } = sums.get(name) ?? { sum: 0, size: 0 };
      sums.set(name, { sum: sum + value, size: size + 1 });
    }
  }
  return [...sums].map(([name, { sum, size }]) => [name, sum / size]);
}
