import { csvParseRows } from 'd3-dsv';
import { ServiceError, type ServiceRequests } from '../service';

/** The first rows of a command's result. */
export interface IResultRows {
  columns: string[];
  rows: string[][];
  /** Whether there are more. */
  isCut: boolean;
}

/** How many rows of a result are shown. */
export const SHOWN_ROWS = 1_000;
/** Characters after which no more is read, however few rows they are. */
const READ_LIMIT = 4_000_000;

/**
 * Return the first rows of a command's result; null when it has no rows but a text.
 *
 * Reading stops with the last row that is shown: the rest of a large result never comes to the page.
 */
export async function firstRows(
  requests: ServiceRequests,
  id: number,
  signal: AbortSignal
): Promise<IResultRows | null> {
  let answer: Response;
  try {
    answer = await requests.send('GET', `commands/${id}/results`, {
      headers: { Accept: 'text/csv' },
      signal
    });
  } catch (reason) {
    if (reason instanceof ServiceError && reason.status === 422) {
      return null;
    }
    throw reason;
  }
  if (answer.body === null || !(answer.headers.get('Content-Type') ?? '').startsWith('text/csv')) {
    return null;
  }
  const { text, isWhole } = await beginning(answer.body);
  const [columns = [], ...rows] = csvParseRows(text);
  const isCut = !isWhole || rows.length > SHOWN_ROWS;
  // What was read last may be half a row.
  const whole = isWhole ? rows : rows.slice(0, -1);
  return { columns, rows: whole.slice(0, SHOWN_ROWS), isCut };
}

async function beginning(
  body: ReadableStream<Uint8Array>
): Promise<{ text: string; isWhole: boolean }> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let lines = 0;
  try {
    // A row may hold line ends of its own, so more lines than rows are read at worst.
    while (lines <= SHOWN_ROWS + 1 || csvParseRows(text).length <= SHOWN_ROWS + 2) {
      const { done, value } = await reader.read();
      if (done) {
        return { text: text + decoder.decode(), isWhole: true };
      }
      const piece = decoder.decode(value, { stream: true });
      text += piece;
      lines += piece.split('\n').length - 1;
      if (text.length > READ_LIMIT) {
        break;
      }
    }
    return { text, isWhole: false };
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
