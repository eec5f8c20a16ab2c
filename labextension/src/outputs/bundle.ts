import type { IColumn, IPart, ISavedRows, Row, Value } from '../results';

/** MIME type of a result's first rows, as the magics write them. */
export const RESULT_MIME = 'application/vnd.svc-jupyter.result+json';
/** MIME type of the line of a command: what it does, or how it ended. */
export const STATUS_MIME = 'application/vnd.svc-jupyter.status+json';

/** A command that an output comes from. */
export interface IOrigin {
  readonly command: number;
  /** As the service writes it: another service may have another command of this id. */
  readonly createdAt: string;
  /** Which of its tables the cell shows. */
  readonly part: IPart;
}

/** Return the command of an output; null if the output is none of ours, or of a later version. */
export function originOf(data: unknown): IOrigin | null {
  if (!isRecord(data) || data.version !== 1) {
    return null;
  }
  const { command, created_at: createdAt } = data;
  const part = partOf(data);
  return isNumber(command) && typeof createdAt === 'string' && part !== null
    ? { command, createdAt, part }
    : null;
}

/** Return which table is shown; null if that cannot be understood, so that no other one is shown in its place. */
function partOf(data: Record<string, unknown>): IPart | null {
  // The line of a cell has the options by which the cell reads its result.
  const { dump, result } = isRecord(data.options) ? data.options : {};
  const given = data.part ?? {
    ...(dump !== undefined && { dump }),
    ...(result !== undefined && { sequence_number: result })
  };
  if (!isRecord(given)) {
    return null;
  }
  const isKnown = Object.entries(given).every(([kind, which]) =>
    kind === 'dump'
      ? isNumber(which) || (typeof which === 'string' && which !== '')
      : ['table', 'sequence_number'].includes(kind) && isNumber(which)
  );
  return isKnown ? given : null;
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0;
}

/** What a line of a command says, beside its origin. */
export interface ISavedStatus {
  /** Whether the kernel knew the end of the command, and the rows are the cell's next output. */
  readonly isComplete: boolean;
  /** Whether this output was completed without its kernel: it has the rows, too. */
  readonly isFollowed: boolean;
  /** The variable that the cell was to assign. */
  readonly name: string | null;
}

/** Return what a line says. */
export function savedStatus(data: unknown): ISavedStatus {
  const { status, followed, name } = isRecord(data) ? data : {};
  return {
    isComplete: typeof status === 'string' && ['done', 'error', 'cancelled'].includes(status),
    isFollowed: followed === true,
    name: typeof name === 'string' ? name : null
  };
}

/** Return the rows of an output. Anybody may have written the notebook, so nothing is taken for granted. */
export function savedRows(data: unknown): ISavedRows | null {
  if (!isRecord(data) || !Array.isArray(data.columns) || !Array.isArray(data.rows)) {
    return null;
  }
  const columns = data.columns.filter(isRecord).map(({ name, type }): IColumn => ({
    name: String(name),
    type: typeof type === 'string' ? type : 'text'
  }));
  const rows = data.rows.filter(Array.isArray).map((row): Row => row.map(valueOf));
  const total = Number.isSafeInteger(data.total) ? Number(data.total) : rows.length;
  return { columns, rows, total: Math.max(total, rows.length) };
}

function valueOf(value: unknown): Value {
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : typeof value === 'string'
      ? value
      : JSON.stringify(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
