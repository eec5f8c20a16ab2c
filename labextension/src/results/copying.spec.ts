import { Clipboard } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import type { IValueAnswer, ResultCalls } from './calls';
import { copyRows } from './copying';
import { ResultModel } from './model';

const trans = nullTranslator.load('');
const COLUMNS = [{ name: 'note', type: 'text' }];
const CUT = `${'x'.repeat(1000)}…`;
const ONE = { anchor: { row: 0, column: 0 }, active: { row: 0, column: 0 } };

let model: ResultModel;
let copied: unknown[];

beforeEach(() => {
  copied = [];
  jest.spyOn(Clipboard, 'copyToSystem').mockImplementation(text => void copied.push(text));
});
afterEach(() => {
  jest.restoreAllMocks();
  model.dispose();
});

/** What is said after a copy of the only cell of a result, of which the service has this value. */
function copyOf(answer: IValueAnswer): Promise<string> {
  const calls = { value: () => Promise.resolve(answer) } as unknown as ResultCalls;
  const first = { columns: COLUMNS, rows: [[CUT]], offset: 0, total: 1 };
  model = new ResultModel(calls, { first });
  return copyRows(model, COLUMNS, ONE, trans);
}

describe('a copy of one cell', () => {
  it('is whole, also where the text ends as a cut one does', async () => {
    const whole = `${'x'.repeat(5000)}…`;
    expect(await copyOf({ value: whole, is_cut: false })).toBe('copied 1 × 1');
    expect(copied).toEqual([whole]);
  });

  it('says where the value is too long to be whole', async () => {
    const words = 'copied 1 × 1, the first 5,000 characters · whole in a download';
    expect(await copyOf({ value: `${'🚂'.repeat(5000)}…`, is_cut: true })).toBe(words);
  });
});
