import type { TranslationBundle } from '@jupyterlab/translation';
import type { ReadonlyJSONObject } from '@lumino/coreutils';
import type { IChartPoint } from './calls';
import type { ResultModel } from './model';
import { type IColumn, isMeasure, isNumber, type Value } from './values';
import { count } from '../words';
import { written } from './words';

/** The kinds of charts. */
export const PLOT_KINDS = ['line', 'bar', 'histogram', 'scatter'] as const;
export type PlotKind = (typeof PLOT_KINDS)[number];
type PointsKind = Exclude<PlotKind, 'histogram'>;

/** A chart that is asked for; `y` is empty where no column has numbers. */
export interface IPlot {
  readonly kind: PlotKind;
  readonly x: string;
  readonly y: string;
}

/** What a chart draws. */
export interface IPlotData {
  readonly kind: PlotKind;
  readonly x: IColumn;
  /** The title of the axis up. */
  readonly up: string;
  readonly marks: readonly IMark[];
  /** What is drawn, in words. */
  readonly words: string;
}

/** A point or bar: its place, and what is said about it. */
interface IMark extends ReadonlyJSONObject {
  readonly x: string | number | null;
  /** The end of a bar that stands for a range. */
  readonly to: string | number | null;
  readonly y: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly count: number;
  /** How opaque a point is: one that stands for more rows is more so. */
  readonly weight: number;
  /** Its values in words. */
  readonly across: string;
  readonly height: string;
  readonly rows: string;
}

/** Bars whose names have room beside each other. */
const UPRIGHT_BARS = 12;
/** A line of fewer points shows each of them. */
const FEW_POINTS = 30;

/** Return whether a chart of this kind can have this column across. */
export function canBeAcross(kind: PlotKind, { type }: IColumn): boolean {
  return kind === 'line' || kind === 'scatter' ? isMeasure(type) : type !== 'nested';
}

/** Return the kinds of charts that can be made of these columns. */
export function plotKinds(columns: readonly IColumn[]): readonly PlotKind[] {
  const hasNumbers = columns.some(({ type }) => isNumber(type));
  return PLOT_KINDS.filter(
    kind =>
      (kind === 'histogram' || hasNumbers) && columns.some(column => canBeAcross(kind, column))
  );
}

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

/** Return a chart of another kind, with the same columns as far as it can have them. */
export function ofKind(plot: IPlot, kind: PlotKind, columns: readonly IColumn[]): IPlot {
  const possible = columns.filter(column => canBeAcross(kind, column));
  const others = possible.filter(({ name }) => kind === 'histogram' || name !== plot.y);
  const x = others.find(({ name }) => name === plot.x) ?? others[0] ?? possible[0];
  return { ...plot, kind, x: x?.name ?? '' };
}

/** Read what a chart draws of all rows that are shown. */
export async function readPlot(
  model: ResultModel,
  plot: IPlot,
  signal: AbortSignal,
  trans: TranslationBundle
): Promise<IPlotData> {
  return plot.kind === 'histogram'
    ? readHistogram(model, plot.x, trans)
    : readPoints(model, { ...plot, kind: plot.kind }, signal, trans);
}

async function readHistogram(
  model: ResultModel,
  name: string,
  trans: TranslationBundle
): Promise<IPlotData> {
  const { columns, total } = model.state;
  const x = columns.find(column => column.name === name) ?? { name, type: 'text' };
  const { histogram, top } = await model.askStatistics(name);
  const bins = histogram ?? [];
  // Where the last bin is a single number or day, each of them is.
  const areValues = bins.at(-1)?.from === bins.at(-1)?.to;
  const points: IChartPoint[] =
    bins.length > 0
      ? bins.map(({ from, to, count: y }) => ({ x: from, ...(!areValues && { to }), y, count: y }))
      : (top ?? []).map(({ value, count: y }) => ({ x: value, y, count: y }));
  return {
    kind: 'histogram',
    x: areValues ? { ...x, type: 'text' } : x,
    up: trans.__('rows'),
    marks: points.map(part => markOf(part, x, { name: '', type: 'integer' }, areValues)),
    words: withRows(
      bins.length > 0
        ? trans.__('histogram of %1', name)
        : trans.__('the %1 most frequent values of %2', count(points.length), name),
      points,
      total,
      trans
    )
  };
}

async function readPoints(
  model: ResultModel,
  plot: IPlot & { kind: PointsKind },
  signal: AbortSignal,
  trans: TranslationBundle
): Promise<IPlotData> {
  const { kind } = plot;
  const answer = await model.calls.points(model.state.shown, kind, plot.x, plot.y, signal);
  const { x, y, points, total } = answer;
  const isOfRanges = points.some(({ to }) => to !== undefined);
  const isNamed = kind === 'bar' && !isOfRanges;
  const isMean = kind !== 'scatter' && points.some(point => point.count > 1);
  const up = isMean ? trans.__('mean of %1', y.name) : y.name;
  const what =
    kind === 'scatter'
      ? trans.__('%1 against %2', up, x.name)
      : kind === 'line'
        ? isMean
          ? trans.__('%1 over %2, in a band from the least to the largest', up, x.name)
          : trans.__('%1 over %2', up, x.name)
        : isOfRanges
          ? trans.__('%1 in ranges of %2', up, x.name)
          : answer.is_cut
            ? trans.__('%1 for the first %2 values of %3', up, points.length, x.name)
            : trans.__('%1 for each %2', up, x.name);
  return {
    kind,
    x: isNamed ? { ...x, type: 'text' } : x,
    up,
    marks: points.map(point => markOf(point, x, y, isNamed)),
    words: withRows(what, points, total, trans)
  };
}

/** Return what is drawn with the number of its rows: those without a number are none of them. */
function withRows(
  what: string,
  points: readonly IChartPoint[],
  total: number,
  trans: TranslationBundle
): string {
  const drawn = points.reduce((sum, point) => sum + point.count, 0);
  const rows =
    drawn === total
      ? trans._n('%1 row', 'all %1 rows', total).replace(String(total), count(total))
      : trans.__('%1 of %2 rows', count(drawn), count(total));
  return `${what} · ${rows}`;
}

/** Return the chart as Vega-Lite draws it, in a box of this size. */
export function plotSpec(
  data: IPlotData,
  width: number,
  height: number,
  trans: TranslationBundle
): ReadonlyJSONObject {
  const { kind, x, marks } = data;
  const type = isNumber(x.type) ? 'quantitative' : isMeasure(x.type) ? 'temporal' : 'nominal';
  const isOfRanges = marks.some(({ to }) => to !== null);
  // The fields have names of ours: a column's name with dots or brackets would be taken for a path.
  const across = {
    field: 'x',
    type,
    title: x.name,
    scale: type === 'temporal' ? { type: 'utc' } : { zero: false },
    ...(type === 'nominal' && {
      scale: {},
      sort: null,
      axis: { labelLimit: 120, labelAngle: marks.length <= UPRIGHT_BARS ? 0 : -45 }
    }),
    ...(isOfRanges && type === 'quantitative' && { bin: { binned: true } })
  };
  const up = {
    field: 'y',
    type: 'quantitative',
    title: data.up,
    stack: null,
    scale: { zero: kind !== 'scatter' && kind !== 'line' }
  };
  const said = (field: string, title: string): ReadonlyJSONObject => ({
    field,
    type: 'nominal',
    title
  });
  const tooltip = [said('across', x.name), said('height', data.up)];
  const isOfMany = marks.some(({ count }) => count > 1);
  if (isOfMany && kind !== 'histogram') {
    tooltip.push(said('rows', trans.__('rows')));
  }
  const drawn = {
    mark: MARKS[kind](marks.length),
    encoding: {
      y: up,
      tooltip,
      ...(isOfRanges && { x2: { field: 'to' }, y2: { datum: 0 } }),
      ...(kind === 'scatter' && { opacity: { field: 'weight', type: 'quantitative', scale: null } })
    }
  };
  const band = {
    mark: { type: 'area', opacity: 0.4 },
    encoding: { y: { ...up, field: 'low' }, y2: { field: 'high' } }
  };
  return {
    $schema: 'https://vega.github.io/schema/vega-lite/v5.json',
    width,
    height,
    padding: 8,
    autosize: { type: 'fit', contains: 'padding' },
    background: null,
    data: { values: [...marks] },
    encoding: { x: across },
    layer: kind === 'line' && isOfMany ? [band, drawn] : [drawn],
    usermeta: { embedOptions: { actions: false } }
  };
}

const MARKS: Record<PlotKind, (count: number) => ReadonlyJSONObject> = {
  line: count => ({ type: 'line', point: count <= FEW_POINTS }),
  bar: () => ({ type: 'bar' }),
  histogram: () => ({ type: 'bar' }),
  scatter: () => ({ type: 'point', filled: true, size: 20 })
};

function markOf(point: IChartPoint, x: IColumn, y: IColumn, isNamed: boolean): IMark {
  const { to = null, low = null, high = null } = point;
  const across = written(x, point.x);
  return {
    x: isNamed ? across : place(x, point.x),
    to: place(x, to),
    y: numberOf(point.y),
    low: numberOf(low),
    high: numberOf(high),
    count: point.count,
    weight: Math.min(1, 0.6 + 0.1 * Math.log10(Math.max(1, point.count))),
    across: to === null ? across : `${across} – ${written(x, to)}`,
    height: written(y, point.y),
    rows: count(point.count)
  };
}

/** Return where a number or a time stands; null where the axis has no place for it. */
function place(column: IColumn, value: Value): number | null {
  if (isNumber(column.type)) {
    return numberOf(value);
  }
  const parts = typeof value === 'string' ? MOMENT.exec(value) : null;
  // A time without a zone stays as it is written, whatever the browser's zone.
  const time = parts === null ? NaN : Date.parse(`${parts[1]}T${parts[2] ?? '00:00'}Z`);
  return Number.isNaN(time) ? null : time;
}

const MOMENT = /^(\d{4}-\d\d-\d\d)(?:T([\d:.]+)Z?)?$/;

function numberOf(value: Value): number | null {
  const found = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof found === 'number' && Number.isFinite(found) ? found : null;
}
