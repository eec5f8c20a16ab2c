import { nullTranslator } from '@jupyterlab/translation';
import type { ICommand } from '../service/records/commands';
import { tableName } from './tables';

const trans = nullTranslator.load('');
const SIZE = { rows: 1, size: 1, columns: [] };

describe('tableName', () => {
  it('is the alias of a DUMP, or the number of a table with its title', () => {
    const names = (outputs: ICommand['outputs']): string[] =>
      [0, 1].map(index => tableName(trans, outputs, index));
    const dumps = [
      { alias: 'late', ...SIZE },
      { alias: 'by_month', ...SIZE }
    ];
    expect(names({ dumps })).toEqual(['DUMP late', 'DUMP by_month']);
    const tables = [
      { paragraph: 'p1', title: 'Delays', ...SIZE },
      { paragraph: 'p2', title: null, ...SIZE }
    ];
    expect(names({ tables })).toEqual(['Table 1 · Delays', 'Table 2']);
  });
});
