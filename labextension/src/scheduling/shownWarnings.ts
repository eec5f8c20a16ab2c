import { tagsOf } from './parameters';
import type { ITaggedCell } from './parameters';

/** The cell tag with which a run continues after a warning or an exception. */
export const GOES_ON_TAG = 'raises-exception';

/** A cell whose last run showed a warning; `number` counts all cells from 1. */
export interface IWarningCell {
  number: number;
  text: string;
}

/** The used part of a cell, to find warnings. */
export interface IExecutedCell extends ITaggedCell {
  cell_type: string;
  outputs?: unknown;
}

/** Maximum number of characters of a cell's output searched for a warning. */
const LOOKED_AT = 100_000;

interface IStreamOutput {
  output_type?: string;
  name?: string;
  text?: string | string[];
}

const WARNING =
  /^[^\w\n]{0,4}(?:[\w./<>@-]{1,200}:\s?(?:line \d{1,9}:\s?)?){0,4}\w{0,40}warning(?: messages?)?(?: in [^\n]{0,200}?)?\s?:.*/im;

/** Return the cells where a scheduled run would stop, judging by their outputs: they showed a warning. */
export function warningCells(cells: readonly IExecutedCell[]): IWarningCell[] {
  const found: IWarningCell[] = [];
  cells.forEach((cell, index) => {
    if (cell.cell_type !== 'code' || tagsOf(cell).includes(GOES_ON_TAG)) {
      return;
    }
    const warning = WARNING.exec(textOnStderr(cell.outputs).slice(0, LOOKED_AT));
    if (warning) {
      found.push({ number: index + 1, text: warning[0].trim() });
    }
  });
  return found;
}

function textOnStderr(outputs: unknown): string {
  if (!Array.isArray(outputs)) {
    return '';
  }
  return (outputs as IStreamOutput[])
    .filter(one => one.output_type === 'stream' && one.name === 'stderr')
    .map(({ text = '' }) => (Array.isArray(text) ? text.join('') : text))
    .join('\n');
}
