import { ALL_ROWS, listed, parameters, sortedBy, typedValue } from './query';

const column = (type: string) => ({ name: 'c', type });

describe('sortedBy', () => {
  it('goes from ascending to descending to none', () => {
    const up = sortedBy(ALL_ROWS, 'a', false);
    const down = sortedBy(up, 'a', false);
    expect(up.sort).toEqual([{ column: 'a', isDescending: false }]);
    expect(down.sort).toEqual([{ column: 'a', isDescending: true }]);
    expect(sortedBy(down, 'a', false).sort).toEqual([]);
  });

  it('keeps the other columns in their places only when asked', () => {
    const both = sortedBy(sortedBy(ALL_ROWS, 'a', false), 'b', true);
    expect(parameters(sortedBy(both, 'a', true)).sort).toBe('-a,b');
    expect(parameters(sortedBy(both, 'b', false)).sort).toBe('-b');
  });
});

describe('parameters', () => {
  it('holds names with commas and quotes exactly', () => {
    expect(listed(['a', 'b'])).toBe('a,b');
    expect(JSON.parse(listed(['a,b', '"']))).toEqual(['a,b', '"']);
    expect(JSON.parse(listed(['[x']))).toEqual(['[x']);
  });

  it('writes conditions as the service reads them, and nothing for none', () => {
    const where = [{ column: 'a', operator: '>=', value: 3 } as const];
    expect(parameters({ ...ALL_ROWS, where }).where).toBe('[["a",">=",3]]');
    expect(parameters(ALL_ROWS)).toEqual({ sort: '', search: '', where: '' });
  });
});

describe('typedValue', () => {
  it('reads numbers, with thousands separated, and refuses words', () => {
    expect(typedValue(column('integer'), '=', ' 49,999 ')).toBe(49999);
    expect(typedValue(column('number'), '>', '-1.5')).toBe(-1.5);
    expect(typedValue(column('number'), '=', 'nan')).toBe('NaN');
    expect(typedValue(column('integer'), '=', 'ten')).toBeNull();
    expect(typedValue(column('integer'), '=', '')).toBeNull();
  });

  it('leaves digits that JavaScript would lose as they were typed', () => {
    expect(typedValue(column('integer'), '=', '9007199254740993')).toBe('9007199254740993');
    expect(typedValue(column('decimal'), '=', '0.10')).toBe('0.10');
  });

  it('keeps the spaces of a text, and reads booleans in any case', () => {
    expect(typedValue(column('text'), '=', ' a ')).toBe(' a ');
    expect(typedValue(column('boolean'), '=', 'TRUE')).toBe(true);
    expect(typedValue(column('boolean'), '=', 'yes')).toBeNull();
    expect(typedValue(column('integer'), 'contains', ' 1')).toBe(' 1');
  });
});
