import { csvParseRows } from 'd3-dsv';
import { ServiceError, type ServiceRequests } from '../service';

/** The first rows of a command's result. */
export interface IResultRows {
  columns: string[];
  rows: string[][];
  /** Whether there are more. */
  isCut: boolean;
}

/** Maximum number of rows shown. */
export const SHOWN_ROWS = 1_000;
/** Maximum number of characters read, regardless of the number of rows. */
const READ_LIMIT = 4_000_000;

/**
 * Return the first rows of a command's result; null when it is a text.
 *
 * Reading stops after the last row shown: the rest of a large result is not downloaded.
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
  // The last row read may be incomplete.
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
    // Rows may contain line breaks, so at worst more lines than rows are read.
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
