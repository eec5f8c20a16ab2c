import { nullTranslator } from '@jupyterlab/translation';
import { valueWords } from './words';

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
