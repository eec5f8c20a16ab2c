/** Lines of a log that are kept to be shown: a log of any size costs the page no more. */
export const KEPT_LINES = 2_000;
/** Characters kept, for logs of few and endless lines. */
const KEPT_CHARACTERS = 400_000;

/** The end of a log. */
export interface ILogTail {
  readonly text: string;
  /** Whether something stood before it. */
  readonly isCut: boolean;
}

/** A log of which nothing was read yet. */
export const EMPTY_LOG: ILogTail = { text: '', isCut: false };

/** Return the end of a log with a further part behind it. */
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
