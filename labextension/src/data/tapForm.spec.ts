import { nullTranslator } from '@jupyterlab/translation';
import type { ITap } from '../service/records/data';
import { uses } from './tapCalls';
import { removalQuestion } from './removal';
import { bodyOf, ownProblems, refusedFields, valuesOf } from './tapForm';

const trans = nullTranslator.load('svc_jupyter');
const NONE = { db_passwd: '', url: '' };
const TAP: ITap = {
  id: 3,
  name: 'shop',
  db_type: 'postgresql',
  db_host: 'db',
  port: 5432,
  db_name: 'shop',
  db_user: 'ann',
  active: true
};

describe('bodyOf', () => {
  it('has the changes alone, and a secret only where one was typed', () => {
    expect(bodyOf(valuesOf(TAP), NONE, TAP)).toEqual({});
    const values = { ...valuesOf(TAP), db_host: ' db2 ', port: '' };
    expect(bodyOf(values, { ...NONE, db_passwd: 'x' }, TAP)).toEqual({
      db_host: 'db2',
      port: null,
      db_passwd: 'x'
    });
    expect(bodyOf({ ...valuesOf(TAP), hasNoPassword: true }, NONE, TAP)).toEqual({ db_passwd: '' });
  });

  it('removes what another type of tap does not have', () => {
    const values = { ...valuesOf(TAP), db_type: 'sqlite', db_name: '/data/shop.db' };
    expect(bodyOf(values, { ...NONE, db_passwd: 'left' }, TAP)).toEqual({
      db_type: 'sqlite',
      db_host: '',
      port: null,
      db_name: '/data/shop.db',
      db_user: ''
    });
  });

  it('has what a new tap needs', () => {
    const values = { ...valuesOf(null), name: 'x', db_type: 'url' };
    expect(bodyOf(values, { ...NONE, url: 'a://b' }, null)).toEqual({
      name: 'x',
      db_type: 'url',
      url: 'a://b'
    });
  });
});

it('knows what is missing without asking the service', () => {
  const fields = (values: object, tap: ITap | null = null): string[] =>
    Object.keys(ownProblems(trans, { ...valuesOf(tap), ...values }, NONE, tap));
  expect(fields({})).toEqual(['name', 'db_host']);
  expect(fields({ port: '70000' }, TAP)).toEqual(['port']);
  expect(fields({ db_type: 'sqlite', db_name: '' }, TAP)).toEqual(['db_name']);
  expect(fields({ db_type: 'url' }, TAP)).toEqual(['url']);
  expect(fields({ db_type: 'url' }, { ...TAP, db_type: 'url' })).toEqual([]);
});

it('shows the messages of the service beside their fields, and others below', () => {
  expect(refusedFields('postgresql', { db_host: 'no' }, 'all')).toEqual([{ db_host: 'no' }, null]);
  expect(refusedFields('sqlite', { db_host: 'no' }, 'all')).toEqual([{}, 'all']);
});

it('finds the tap in a command, and in those within it', () => {
  expect(uses({ db_tap_id: 3 }, 3)).toBe(true);
  expect(uses({ sub_commands: [{ command: { dbtap_id: '3' } }] }, 3)).toBe(true);
  expect(uses({ query: 'db_tap_id', db_tap_id: 4 }, 3)).toBe(false);
});

it('asks for a removal with the schedules that use the tap', () => {
  expect(removalQuestion(trans, TAP, ['a', 'b']).text).toContain(
    '2 schedules use it and will fail: a, b.'
  );
  expect(removalQuestion(trans, TAP, []).text).toContain('No schedule uses it.');
  expect(removalQuestion(trans, TAP, null).text).toContain('could not be read');
});
