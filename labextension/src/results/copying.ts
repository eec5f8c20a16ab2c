import { Clipboard } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ResultModel } from './model';
import { areaOf, type ISelection, tabSeparated } from './selection';
import { type IColumn, isCut } from './values';
import { valueWords } from './words';
import { count } from '../words';

/** Rows that are copied at most; more are a file's. */
export const COPIED_ROWS = 10_000;

/**
 * Copy the selected cells, or all rows if none are selected, as text separated by tabs, with the values as in the data.
 *
 * Whole rows are copied with the names of their columns. Returns what was copied, in words.
 */
export async function copyRows(
  model: ResultModel,
  columns: readonly IColumn[],
  selection: ISelection | null,
  trans: TranslationBundle
): Promise<string> {
  const last = Math.max(0, model.state.reachable - 1);
  const area =
    selection === null || selection.active.row < 0
      ? { top: 0, bottom: last, left: 0, right: columns.length - 1 }
      : areaOf(selection);
  const across = columns.slice(area.left, area.right + 1);
  const chosen = across.map(({ name }) => name);
  const isWhole = chosen.length === columns.length && (columns.length > 1 || selection === null);
  const end = Math.min(area.bottom + 1, area.top + COPIED_ROWS, last + 1);
  const only = across.length === 1 && area.top === area.bottom ? across[0] : undefined;
  const one = only === undefined ? null : await model.whole(area.top, only);
  const rows = one === null ? await model.rows(area.top, end, chosen) : [[one.value]];
  const indices = chosen.map((_, index) => index);
  Clipboard.copyToSystem(tabSeparated(isWhole ? chosen : null, rows, indices));
  const cutCount = one === null ? rows.reduce((sum, row) => sum + row.filter(isCut).length, 0) : 0;
  const rest = model.state.isPaged ? 'download' : 'saved';
  return [
    trans.__('copied %1 × %2', count(rows.length), count(chosen.length)),
    one?.is_cut && valueWords(trans, one, rest, Infinity),
    area.bottom + 1 > end && trans.__('of %1 rows', count(area.bottom + 1 - area.top)),
    cutCount > 0 &&
      trans._n(
        '%1 text cut at 1,000 characters (whole in a download)',
        '%1 texts cut at 1,000 characters (whole in a download)',
        cutCount
      )
  ]
    .filter(Boolean)
    .join(', ');
}
