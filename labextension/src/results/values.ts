import { cut } from '../words';

/** A value of a result as sent by the service; numbers that JavaScript cannot hold are texts. */
export type Value = string | number | boolean | null;

/** The values of a row, in the order of the columns. */
export type Row = readonly Value[];

/** A column of a result. A name is unique: the second `a` is `a#2`. */
export interface IColumn {
  readonly name: string;
  /** `text`, `integer`, `number`, `decimal`, `boolean`, `timestamp`, `date`, `time`, `binary` or `nested`. */
  readonly type: string;
}

/** Writes a value of a column for reading. */
export type Format = (value: Value) => string;

const NUMBERS: readonly string[] = ['integer', 'number', 'decimal'];
const TIMES: readonly string[] = ['timestamp', 'date', 'time'];
/** Significant digits of a number with a fraction. */
const DIGITS = 6;
/** The service cuts a longer text of a page here, and adds an ellipsis. */
const CUT_LENGTH = 1000;
/** Characters of a value that are written into a cell: no cell is wider. */
const SHOWN_CHARACTERS = 200;
const TIMESTAMP =
  /^([+-]?\d{4,6}-\d\d-\d\d)[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d+?)0*)?)?(Z|[+-]\d\d:?\d\d)?$/;
/** Names of columns whose numbers are no quantities: 2013 is not shown as 2,013. */
const PLAIN_NUMBER = /(?:^|_)(?:id|year|code|zip)$/i;
const ZERO_OFFSET = /(Z|[+-]00:?00)$/;

/** Return whether values of this type are numbers. */
export function isNumber(type: string): boolean {
  return NUMBERS.includes(type);
}

/** Return whether values of this type can be put on an axis that is a measure: numbers and times. */
export function isMeasure(type: string): boolean {
  return isNumber(type) || type === 'timestamp' || type === 'date';
}

/** Return whether the rows are the lines of a text: what a shell printed, or a plan. */
export function isLines(columns: readonly IColumn[]): boolean {
  return columns.length === 1 && columns[0]?.name === 'line' && columns[0].type === 'text';
}

/** Return whether values of this type are aligned right. */
export function isAlignedRight(type: string): boolean {
  return isNumber(type) || TIMES.includes(type);
}

/** Return whether all timestamps of a sample are in UTC, which is then said once, in the column's head. */
export function isUtc(column: IColumn, sample: readonly Value[]): boolean {
  const texts = sample.filter(value => typeof value === 'string');
  return (
    column.type === 'timestamp' && texts.length > 0 && texts.every(text => ZERO_OFFSET.test(text))
  );
}

/**
 * Return how values of a column are written; a sample of its values determines the decimals, so that the points are
 * below each other.
 *
 * Numbers are always written as `1,234.5`, as in static tables and in the data: `1.234` must not be one thousand and
 * more in one browser, and one and a bit in another. A year or an id has no separators.
 */
export function formatOf(column: IColumn, sample: readonly Value[]): Format {
  const separated = PLAIN_NUMBER.test(column.name) ? oneLine : grouped;
  switch (column.type) {
    case 'integer':
    case 'decimal':
      return value => text(value, separated);
    case 'number':
      return numberFormat(sample, separated);
    case 'timestamp':
      return timestampFormat(sample);
    default:
      return value => text(value, oneLine);
  }
}

/** Return a value whole, as in the data; empty for null. */
export function wholeText(value: Value): string {
  return value === null ? '' : String(value);
}

/** Return whether a value of a page is the beginning of a longer text. */
export function isCut(value: Value): boolean {
  return typeof value === 'string' && value.length > CUT_LENGTH && value.endsWith('…');
}

/** Return a value over several lines: a list or a structure with a line for each member, others as they are. */
export function laidOut(column: IColumn, value: Value): string {
  const whole = wholeText(value);
  const json = JSON as IExactJson;
  if (column.type !== 'nested' || json.rawJSON === undefined) {
    return whole;
  }
  try {
    return JSON.stringify(json.parse(whole, exact), null, 2);
  } catch {
    return whole; // it is cut, or no JSON
  }
}

/** What browsers have since 2025, and TypeScript not yet: numbers are written as they were read. */
interface IExactJson {
  rawJSON?: (text: string) => unknown;
  parse: (text: string, reviver: Reviver) => unknown;
}

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

/** Keep a number as it is written: `JSON.parse` rounds whole numbers above 2^53. */
const exact: Reviver = (_key, value, context) =>
  typeof value === 'number' && context?.source !== undefined
    ? (JSON as IExactJson).rawJSON?.(context.source)
    : value;

function text(value: Value, written: (value: string) => string): string {
  return value === null ? 'null' : written(String(value));
}

function oneLine(value: string): string {
  return cut(value, SHOWN_CHARACTERS)
    .replace(/\r\n?|\n/g, '↵')
    .replace(/\t/g, '→');
}

/** Return a decimal number, given as text, with its thousands separated. */
function grouped(number: string): string {
  const parts = /^(-?)(\d+)(\.\d+)?$/.exec(number);
  if (parts === null) {
    return oneLine(number);
  }
  const [, sign = '', whole = '', fraction = ''] = parts;
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + fraction;
}

function numberFormat(sample: readonly Value[], separated: (number: string) => string): Format {
  const numbers = sample.filter(value => typeof value === 'number');
  const largest = Math.max(0, ...numbers.map(Math.abs).filter(isPlain));
  const wholeDigits = largest < 1 ? 0 : Math.floor(Math.log10(largest)) + 1;
  const most = Math.min(DIGITS, Math.max(2, DIGITS - wholeDigits));
  const decimals = Math.max(
    0,
    ...numbers
      .filter(isPlain)
      .map(number => String(Number(number.toFixed(most))).split('.')[1]?.length ?? 0)
  );
  return value => {
    if (typeof value !== 'number') {
      return text(value, oneLine);
    }
    if (!isPlain(value)) {
      return String(Number(value.toPrecision(DIGITS)));
    }
    // A small number beside large or whole ones keeps three digits rather than become 0.00 or 0.
    const isSmall = value !== 0 && Math.abs(value) < 10 ** (1 - decimals);
    return separated(isSmall ? String(Number(value.toPrecision(3))) : value.toFixed(decimals));
  };
}

/** Whether a number is written without an exponent. */
function isPlain(number: number): boolean {
  const size = Math.abs(number);
  return number === 0 || (size >= 1e-4 && size < 1e15);
}

function timestampFormat(sample: readonly Value[]): Format {
  const found = sample
    .filter(value => typeof value === 'string')
    .map(value => TIMESTAMP.exec(value))
    .filter(match => match !== null);
  const isSeconds = found.some(
    ([, , , second = '00', fraction = '']) => second + fraction !== '00'
  );
  const isMidnight =
    !isSeconds && found.length > 0 && found.every(([, , time]) => time === '00:00');
  return value => {
    const parts = typeof value === 'string' ? TIMESTAMP.exec(value) : null;
    if (parts === null) {
      return text(value, oneLine);
    }
    const [, date = '', minutes = '', second = '00', fraction = '', zone = ''] = parts;
    const offset = zone === '' || ZERO_OFFSET.test(zone) ? '' : ` ${zone}`;
    const isExact = second !== '00' || fraction !== '';
    if (isMidnight && !isExact && minutes === '00:00') {
      return date + offset;
    }
    const seconds = isSeconds || isExact ? `:${second}` : '';
    return `${date} ${minutes}${seconds}${fraction === '' ? '' : `.${fraction}`}${offset}`;
  };
}
