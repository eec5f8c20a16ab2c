import { formatOf, isUtc, laidOut, type Value } from './values';

const written = (type: string, values: Value[], name = 'c'): string[] =>
  values.map(formatOf({ name, type }, values));

describe('formatOf', () => {
  it('aligns the points of numbers, and keeps small and large ones readable', () => {
    expect(written('number', [0, 0.25, 49999.75])).toEqual(['0.00', '0.25', '49,999.75']);
    expect(written('number', [1000, 0.00123, 3.75])).toEqual(['1,000.00', '0.00123', '3.75']);
    expect(written('number', [1000, 0.00123, 7])).toEqual(['1,000', '0.00123', '7']);
    expect(written('number', [1.5e300])).toEqual(['1.5e+300']);
    expect(written('number', ['NaN', null, '-Infinity'])).toEqual(['NaN', 'null', '-Infinity']);
  });

  it('loses no digit of whole and decimal numbers', () => {
    expect(written('integer', [1234, '9007199254740993'])).toEqual([
      '1,234',
      '9,007,199,254,740,993'
    ]);
    expect(written('decimal', ['-12345.100'])).toEqual(['-12,345.100']);
  });

  it('does not separate the thousands of numbers that are no quantities', () => {
    expect(written('integer', [2013, null], 'year')).toEqual(['2013', 'null']);
    expect(written('number', [2013, 2014.5], 'model_year')).toEqual(['2013.0', '2014.5']);
    expect(written('decimal', ['10010', '5'], 'ZIP')).toEqual(['10010', '5']);
    expect(written('integer', [12345], 'paid')).toEqual(['12,345']);
  });

  it('writes as much of a time as the column has', () => {
    expect(written('timestamp', ['2026-01-31T00:00:00', '1492-10-12T00:00:00'])).toEqual([
      '2026-01-31',
      '1492-10-12'
    ]);
    expect(written('timestamp', ['2026-01-31T09:00:00Z', '2026-01-31T09:00:01.5Z'])).toEqual([
      '2026-01-31 09:00:00',
      '2026-01-31 09:00:01.5'
    ]);
    expect(written('timestamp', ['2026-01-31T09:00:00+02:00'])).toEqual([
      '2026-01-31 09:00 +02:00'
    ]);
  });

  it('keeps a text on one line, and cuts it', () => {
    expect(written('text', ['a\r\nb\tc', '', null])).toEqual(['a↵b→c', '', 'null']);
    expect(written('text', ['x'.repeat(1000)])[0]).toHaveLength(201);
  });
});

describe('isUtc', () => {
  it('needs every time of a sample', () => {
    const column = { name: 'c', type: 'timestamp' };
    expect(isUtc(column, ['2026-01-31T09:00:00Z', null])).toBe(true);
    expect(isUtc(column, ['2026-01-31T09:00:00Z', '2026-01-31T09:00:00'])).toBe(false);
    expect(isUtc(column, [null])).toBe(false);
  });
});

describe('laidOut', () => {
  it('gives each member of a list or a structure a line, and changes no number', () => {
    const nested = { name: 'c', type: 'nested' };
    expect(laidOut(nested, '{"id": 9007199254740993, "prices": [1.10, null]}')).toBe(
      `{
  "id": 9007199254740993,
  "prices": [
    1.10,
    null
  ]
}`
    );
    expect(laidOut(nested, '[1, 2…')).toBe('[1, 2…');
    expect(laidOut(nested, null)).toBe('');
  });

  it('leaves other values as they are', () => {
    expect(laidOut({ name: 'c', type: 'text' }, '{"a": 1}')).toBe('{"a": 1}');
    expect(laidOut({ name: 'c', type: 'number' }, 12345678.123456)).toBe('12345678.123456');
  });
});
