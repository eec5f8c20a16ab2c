import { argumentsOf, type IParameter, parametersOf, valueOf, withArguments } from './parameters';
import { warningCells } from './shownWarnings';

function declared(source: string): [string, string, string][] {
  return parametersOf([{ source, metadata: { tags: ['parameters'] } }]).map(
    ({ name, type, text }) => [name, type, text]
  );
}

function parameter(type: IParameter['type'], text: string): IParameter {
  return { name: 'x', type, text, byDefault: null };
}

describe('the parameters of a notebook', () => {
  it('are the plain values of the tagged cell, typed', () => {
    expect(
      declared(
        "region = 'EU'  # where\ndays: int = 7\nrate = 1_000.5\nsmall = -2e-3\nfull = True\nnext_day = days + 1\nf(3)"
      )
    ).toEqual([
      ['region', 'str', 'EU'],
      ['days', 'int', '7'],
      ['rate', 'float', '1000.5'],
      ['small', 'float', '-2e-3'],
      ['full', 'bool', 'true']
    ]);
  });

  it.each([
    ['x <- 7L', ['x', 'int', '7']],
    ['val x = "a // b" // c', ['x', 'str', 'a // b']],
    ['x=5', ['x', 'int', '5']],
    ['x <- FALSE', ['x', 'bool', 'false']],
    [String.raw`x = "a\"b\té"`, ['x', 'str', 'a"b\té']]
  ])('are found in other languages: %s', (source, wanted) => {
    expect(declared(source)).toEqual([wanted]);
  });

  it('are none without a tagged cell, and of a name given twice the last counts', () => {
    expect(
      parametersOf([{ source: 'x = 1' }, { source: 'y = 2', metadata: { tags: 'no' } }])
    ).toEqual([]);
    expect(declared('x = 1\nx = 2')).toEqual([['x', 'int', '2']]);
  });

  it('are read from text of any length', () => {
    const long = [
      `x = "${'\\'.repeat(200_000)}`,
      `y = ${'1'.repeat(200_000)}!`,
      `z = ${'1'.repeat(1_900)}!`
    ];
    expect(declared([...long, 'days = 7'].join('\n'))).toEqual([['days', 'int', '7']]);
  });
});

describe('the value of a text', () => {
  it.each([
    ['int', '7', 7],
    ['int', '7.5', undefined],
    ['int', '9007199254740993', undefined],
    ['float', '7.5', 7.5],
    ['float', '', undefined],
    ['float', '1e999', undefined],
    ['bool', 'true', true],
    ['bool', 'yes', undefined],
    ['str', ' 7 ', ' 7 ']
  ] as const)('of the type %s: %s', (type, text, value) => {
    expect(valueOf(parameter(type, text))).toBe(value);
  });
});

describe('the arguments of a schedule', () => {
  const own = parametersOf([
    { source: 'days = 7\nrate = 1.5', metadata: { tags: ['parameters'] } }
  ]);

  it('are what differs from the notebook', () => {
    expect(argumentsOf(own)).toEqual({});
    expect(
      argumentsOf(own.map(one => (one.name === 'days' ? { ...one, text: '30' } : one)))
    ).toEqual({ days: 30 });
  });

  it('come back into the form, those that the notebook lacks too', () => {
    const shown = withArguments(own, { rate: 2, extra: 'x' });
    expect(shown.map(({ name, type, text, byDefault }) => [name, type, text, byDefault])).toEqual([
      ['days', 'int', '7', '7'],
      ['rate', 'float', '2', '1.5'],
      ['extra', 'str', 'x', null]
    ]);
    expect(argumentsOf(shown)).toEqual({ rate: 2, extra: 'x' });
  });
});

describe('the cells at which a run would stop', () => {
  const cell = (text: string | string[], tags: string[] = [], name = 'stderr') => ({
    cell_type: 'code',
    source: '',
    metadata: { tags },
    outputs: [{ output_type: 'stream', name, text }]
  });

  it('are those that showed a warning and are not tagged', () => {
    const python = '/tmp/ipykernel_7/1.py:3: UserWarning: old\n  warn()';
    const found = warningCells([
      { cell_type: 'markdown', source: 'Warning: no' },
      cell(python),
      cell(python, ['raises-exception']),
      cell(['Warning message:\n', 'In f(): old']),
      cell('no warning at all here'),
      cell('UserWarning: printed', [], 'stdout')
    ]);
    expect(found.map(one => one.number)).toEqual([2, 4]);
    expect(found[0]?.text).toContain('UserWarning: old');
  });
});
