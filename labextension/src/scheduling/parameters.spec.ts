import {
  argumentsOf,
  asOwn,
  declaringPart,
  type IParameter,
  parameterOf,
  valueOf,
  withArguments,
  withDeclared
} from './parameters';
import type { ArgumentType } from '../service/records/schedules';
import { type IExecutedCell, warningCells } from './shownWarnings';

const LITERAL = parameterOf({ name: 'days', code: '7', type: 'int', text: '7' });
const CODE = parameterOf({ name: 'half', code: '5//2', type: null, text: null });

function parameter(type: IParameter['type'], text: string): IParameter {
  return { name: 'x', type, text, own: null };
}

function declared(name: string, type: ArgumentType, text: string): IParameter {
  return parameterOf({ name, code: text, type, text });
}

describe('the parameters of a notebook', () => {
  it('are read from its tagged cells and its language alone', () => {
    const tagged = { cell_type: 'code', source: 'x = 1', metadata: { tags: ['parameters'] } };
    const other = { cell_type: 'code', source: 'y = 2', metadata: { tags: 'no' } };
    const language = { kernelspec: { name: 'python3', display_name: 'Python' } };
    const metadata = { ...language, widgets: {} };
    const executed = { ...tagged, outputs: [] };
    expect(declaringPart({ cells: [other, executed, other], metadata })).toEqual({
      cells: [tagged],
      metadata: language
    });
  });

  it('are literals with their types, or code', () => {
    expect([LITERAL, CODE]).toEqual([
      { name: 'days', type: 'int', text: '7', own: { type: 'int', text: '7' } },
      { name: 'half', type: 'code', text: '5//2', own: { type: 'code', text: '5//2' } }
    ]);
  });

  it('have their present values where the form has the own ones of before', () => {
    const typed = [
      declared('days', 'int', '5'),
      declared('half', 'int', '2'),
      declared('gone', 'int', '2')
    ];
    expect(withDeclared(typed, [LITERAL, CODE])).toEqual([LITERAL, CODE]);
  });

  it('keep what was typed', () => {
    const days: IParameter = { ...LITERAL, text: '30' };
    const half: IParameter = { ...CODE, type: 'str', text: '5//2' };
    const gone: IParameter = { ...declared('gone', 'int', '2'), text: '3' };
    const rate: IParameter = { name: 'rate', type: 'int', text: '3', own: null };
    const own = declared('rate', 'float', '1.5');
    expect(withDeclared([days, half, gone, rate], [LITERAL, CODE, own])).toEqual([
      days,
      half,
      { ...gone, own: null },
      { ...own, text: '3' }
    ]);
  });

  it('belong to the first row of a name, so that a second one can be taken out', () => {
    const added: IParameter = { name: 'days', type: 'str', text: 'x', own: null };
    const rows = [LITERAL, added];
    expect(withDeclared(withDeclared(rows, [LITERAL]), [LITERAL])).toEqual(rows);
  });

  it('keep the type of an argument that the notebook has otherwise now', () => {
    const [given] = withArguments([LITERAL], { days: 30 });
    const text = declared('days', 'str', '30');
    const [shown] = withDeclared([given as IParameter], [text]);
    expect(shown).toEqual({ ...text, type: 'int', isGiven: true });
    expect(asOwn(shown as IParameter)).toEqual(text);
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
  const own: IParameter[] = [LITERAL, declared('rate', 'float', '1.5'), CODE];

  it('are what differs from the notebook', () => {
    expect(argumentsOf(own)).toEqual({});
    expect(
      argumentsOf(own.map(one => (one.name === 'days' ? { ...one, text: '30' } : one)))
    ).toEqual({ days: 30 });
  });

  it('have a value in the place of code, also one that looks like it', () => {
    expect(argumentsOf([{ ...CODE, type: 'int', text: '5' }])).toEqual({ half: 5 });
    const text: IParameter = { ...CODE, type: 'str' };
    expect(argumentsOf([text])).toEqual({ half: '5//2' });
    expect(asOwn(text)).toEqual(CODE);
  });

  it('come back into the form, those that the notebook lacks too', () => {
    const shown = withArguments(own, { rate: 2, extra: 'x' });
    expect(shown.map(one => [one.name, one.type, one.text, one.own?.text])).toEqual([
      ['days', 'int', '7', '7'],
      ['rate', 'float', '2', '1.5'],
      ['half', 'code', '5//2', '5//2'],
      ['extra', 'str', 'x', undefined]
    ]);
    expect(argumentsOf(shown)).toEqual({ rate: 2, extra: 'x' });
  });

  it('stay when the notebook has the same value now, until they are taken back', () => {
    const given = withArguments([], { days: 7 });
    const shown = withDeclared(given, [LITERAL]);
    expect(argumentsOf(shown)).toEqual({ days: 7 });
    expect(shown.map(asOwn)).toEqual([LITERAL]);
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

  it('are those that ended in an error, which is told rather than a warning', () => {
    const error = {
      output_type: 'error',
      ename: 'KeyError',
      evalue: "'day'\nline 2",
      traceback: []
    };
    const warned = { output_type: 'stream', name: 'stderr', text: 'UserWarning: old' };
    const ended = (tags: string[] = []): IExecutedCell => ({
      cell_type: 'code',
      source: 'row["day"]',
      metadata: { tags },
      outputs: [error, warned]
    });
    expect(warningCells([ended(), ended(['raises-exception'])])).toEqual([
      { number: 1, text: "KeyError: 'day'", isError: true }
    ]);
  });
});
