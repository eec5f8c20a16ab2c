/** Maximum number of lines kept of a log, so that a long log does not slow the page down. */
export const KEPT_LINES = 2_000;
/** Maximum number of characters kept, for logs with very long lines. */
const KEPT_CHARACTERS = 400_000;

/** The end of a log. */
export interface ILogTail {
  readonly text: string;
  /** Whether text before it was dropped. */
  readonly isCut: boolean;
}

/** The state before anything was read. */
export const EMPTY_LOG: ILogTail = { text: '', isCut: false };

/** Return the end of a log after appending a part. */
export function appended(tail: ILogTail, part: string): ILogTail {
  const text = tail.text + part;
  let start = Math.max(0, text.length - KEPT_CHARACTERS);
  let end = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let lines = 0; lines < KEPT_LINES && end > start; lines++) {
    end = text.lastIndexOf('\n', end - 1);
  }
  start = Math.max(start, end + 1);
  return start === 0 ? { text, isCut: tail.isCut } : { text: text.slice(start), isCut: true };
}
