import { nullTranslator } from '@jupyterlab/translation';
import type { IPart, ResultCalls } from './calls';
import { resultName, valueWords } from './words';

const trans = nullTranslator.load('');

describe('valueWords', () => {
  const cut = { value: `${'x'.repeat(1000)}…`, is_cut: true };
  const whole = (value: string) => ({ value, is_cut: false });

  it('says how long a value is, and how much of it is shown', () => {
    expect(valueWords(trans, whole('x'), 'download', 100)).toBe('1 character');
    expect(valueWords(trans, whole('x'.repeat(1234)), 'reading', 2000)).toBe('1,234 characters');
    expect(valueWords(trans, whole('x'.repeat(1234)), 'saved', 100)).toBe(
      '1,234 characters · 100 of them below'
    );
  });

  it('says where the rest of a value is', () => {
    const words = (rest: 'reading' | 'saved' | 'download'): string =>
      valueWords(trans, cut, rest, 2000);
    expect(words('reading')).toBe('the first 1,000 characters · reading …');
    expect(words('saved')).toBe('the first 1,000 characters · as saved');
    expect(words('download')).toBe('the first 1,000 characters · whole in a download');
  });
});

describe('resultName', () => {
  it('tells the tables of a command apart', () => {
    const name = (part: IPart): string =>
      resultName(trans, { command: 7, part } as unknown as ResultCalls);
    expect(name({})).toBe('Result of command 7');
    expect(name({ dump: 'late' })).toBe('DUMP late of command 7');
    expect(name({ table: 2 })).toBe('Table 2 of command 7');
    expect(name({ sequence_number: 3 })).toBe('Result of sub-command 3 of command 7');
  });
});
