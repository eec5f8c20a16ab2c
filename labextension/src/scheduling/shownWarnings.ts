import { firstLine } from '../words';
import { type ITaggedCell, tagsOf } from './parameters';

/** The cell tag with which a run continues after a warning or an exception. */
export const GOES_ON_TAG = 'raises-exception';

/** A cell whose last run showed a warning or ended in an error; `number` counts all cells from 1. */
export interface IWarningCell {
  number: number;
  text: string;
  isError: boolean;
}

/** The used part of a cell, to find warnings and errors. */
export interface IExecutedCell extends ITaggedCell {
  cell_type: string;
  outputs?: unknown;
}

/** Maximum number of characters of a cell's output searched for a warning. */
const LOOKED_AT = 100_000;

/** The used part of an output: a stream's, or an error's name and value. */
interface IOutput {
  output_type?: string;
  name?: string;
  text?: string | string[];
  ename?: string;
  evalue?: string;
}

const WARNING =
  /^[^\w\n]{0,4}(?:[\w./<>@-]{1,200}:\s?(?:line \d{1,9}:\s?)?){0,4}\w{0,40}warning(?: messages?)?(?: in [^\n]{0,200}?)?\s?:.*/im;

/** Return the cells where a scheduled run would stop, judging by their outputs: a warning, or an error. */
export function warningCells(cells: readonly IExecutedCell[]): IWarningCell[] {
  const found: IWarningCell[] = [];
  cells.forEach((cell, index) => {
    if (cell.cell_type !== 'code' || tagsOf(cell).includes(GOES_ON_TAG)) {
      return;
    }
    const number = index + 1;
    const outputs = Array.isArray(cell.outputs) ? (cell.outputs as IOutput[]) : [];
    const error = outputs.find(one => one.output_type === 'error');
    const warning = WARNING.exec(textOnStderr(outputs).slice(0, LOOKED_AT));
    if (error) {
      found.push({ number, text: errorText(error), isError: true });
    } else if (warning) {
      found.push({ number, text: warning[0].trim(), isError: false });
    }
  });
  return found;
}

function errorText({ ename = '', evalue = '' }: IOutput): string {
  return firstLine([ename, evalue].filter(part => part !== '').join(': '));
}

function textOnStderr(outputs: readonly IOutput[]): string {
  return outputs
    .filter(one => one.output_type === 'stream' && one.name === 'stderr')
    .map(({ text = '' }) => (Array.isArray(text) ? text.join('') : text))
    .join('\n');
}
