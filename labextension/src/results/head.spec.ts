import { nullTranslator } from '@jupyterlab/translation';
import type { IStatistics } from './calls';
import { headWords } from './head';

const trans = nullTranslator.load('');

describe('headWords', () => {
  const known: IStatistics = { name: 'x', type: 'text', count: 9, nulls: 0, distinct: 1234 };

  it('says how many different values there are where no histogram shows them', () => {
    const words = { name: 'x', type: 'text' };
    expect(headWords(trans, words, false, { ...known, histogram: [] })).toBe('text · 1,234');
    const numbers = { name: 'x', type: 'integer' };
    const histogram = [{ from: 0, to: 2, count: 9 }];
    expect(headWords(trans, numbers, false, { ...known, histogram })).toBe('integer');
  });
});
