import { nullTranslator } from '@jupyterlab/translation';
import { aSchedule } from '../schedules/testing';
import { ServiceError } from '../service';
import { changedAttributes, changesOf } from './changes';
import { columnsOf, columnsText, tableNameOf } from './dependencies';
import { bodyOf, valuesOf } from './formBody';
import { argumentsOfForm, editFormId, newFormId } from './formIds';
import { ownProblems, problemsIn } from './formProblems';
import { type IFormValues, nameFrom, newValues } from './formValues';
import { labelsOf } from './labels';

const trans = nullTranslator.load('svc_jupyter');
const VALUES = { ...newValues('report', 'Europe/Paris', '09:00', []), start: '2026-11-22' };

function body(changes: Partial<IFormValues>): ReturnType<typeof bodyOf> {
  return bodyOf({ ...VALUES, ...changes });
}

afterEach(() => void jest.useRealTimers());

describe('the body of a creation', () => {
  it('says an interval and its start, or a cron expression without one', () => {
    expect(body({ end: '2027-01-01T00:00' })).toMatchObject({
      frequency: 1,
      time_unit: 'days',
      start_time: '2026-11-22 09:00',
      end_time: '2027-01-01 00:00',
      time_zone: 'Europe/Paris'
    });
    const cron = body({ timing: 'cron', cron: ' 0 9 * * 1-5 ' });
    expect(cron.cron_expression).toBe('0 9 * * 1-5');
    expect(cron).not.toHaveProperty('frequency');
    expect(cron).not.toHaveProperty('start_time');
  });

  it('says times on days as a cron expression', () => {
    const times = body({ timing: 'times', times: '09:00, 17:00', weekdays: [5, 1], cron: 'x' });
    expect(times.cron_expression).toBe('0 9,17 * * 1,5');
    expect(times).not.toHaveProperty('start_time');
    expect(body({ timing: 'times', times: '9 AM' }).cron_expression).toBe('');
  });

  it('starts at the next such time without a day, and now without a time', () => {
    jest.useFakeTimers({ now: new Date('2026-11-22T08:30Z') });
    expect(body({ start: '' }).start_time).toBe('2026-11-23 09:00');
    expect(body({ start: '', at: '9:31' }).start_time).toBe('2026-11-22 09:31');
    expect(body({ start: '', at: '09:00', timeZone: 'UTC' }).start_time).toBe('2026-11-22 09:00');
    const from = { start: '', at: '06:05' };
    expect(body({ ...from, every: '2', unit: 'hours' }).start_time).toBe('2026-11-22 10:05');
    expect(body({ ...from, every: '10', unit: 'minutes' }).start_time).toBe('2026-11-22 09:35');
    for (const every of ['36', '0', 'two', '1e99']) {
      expect(body({ ...from, every, unit: 'hours' }).start_time).toBe('2026-11-23 06:05');
    }
    expect(body({ start: ' ', at: ' ' })).not.toHaveProperty('start_time');
  });

  it('sends what is not a number as it was typed, so that the service says what is wrong', () => {
    const wrong = body({ every: 'two', concurrency: '', timeout: 'long' });
    expect([wrong.frequency, wrong.concurrency, wrong.command_timeout]).toEqual([
      'two',
      '',
      'long'
    ]);
  });

  it('counts the limit of a run in seconds', () => {
    expect(body({ timeout: '90' }).command_timeout).toBe(5400);
    expect(body({})).not.toHaveProperty('command_timeout');
    const limited = aSchedule({ command_timeout: 5400 });
    const cleared = { ...valuesOf(limited, []), timeout: '' };
    expect(changesOf(limited, cleared)).toEqual({ command_timeout: 129_600 });
    expect(valuesOf(aSchedule({ command_timeout: 129_600 }), []).timeout).toBe('');
  });

  it('gives dependencies a step of their own with times and a cron expression, which have none', () => {
    const files = [{ path: 'a/%Y', doneFlag: '', windowStart: '-1', windowEnd: '0' }];
    const tables = [
      { table: 'sales', columns: 'day=%Y-%m-%d, region=EU|US', windowStart: '0', windowEnd: '0' }
    ];
    expect(body({ files, tables }).dependency_info).toEqual({
      files: [{ path: 'a/%Y', window_start: -1, window_end: 0 }],
      hive_tables: [
        {
          schema: 'default',
          name: 'sales',
          columns: { day: '%Y-%m-%d', region: ['EU', 'US'] },
          window_start: 0,
          window_end: 0
        }
      ]
    });
    for (const timing of ['times', 'cron'] as const) {
      const stepped = body({ files, timing, stepEvery: '2', stepUnit: 'hours' });
      expect(stepped.dependency_info?.files?.[0]?.interval).toEqual({ hours: 2 });
    }
  });

  it('tells whom to tell, and when', () => {
    const told = body({
      notifyFailure: true,
      digest: true,
      digestTime: '07:30',
      channels: [3]
    }).notification;
    expect(told).toEqual({
      is_digest: true,
      digest_time_hour: 7,
      digest_time_minute: 30,
      notify_failure: true,
      notify_success: false,
      notification_channels: [3]
    });
  });

  it('asks for alerts', () => {
    expect(body({ dueBy: ' 8:00 ', longerThan: '2.5' })).toMatchObject({
      due_by: '08:00',
      longer_than: 2.5
    });
    const without = Object.keys(body({ dueBy: '', longerThan: ' ' }));
    expect(without.filter(key => ['due_by', 'longer_than'].includes(key))).toEqual([]);
  });
});

describe('an edit', () => {
  const record = aSchedule({
    command: { path: 'p.ipynb', arguments: { days: 7 }, upload_to_source: false },
    end_time: '2027-01-01 00:00',
    dependency_info: {
      files: [{ path: 'a/%Y', done_flag: '_SUCCESS', window_start: '0', window_end: 0 }]
    }
  });
  const values = valuesOf(record, []);

  it('changes nothing that was not touched', () => {
    expect(changesOf(record, values)).toEqual({});
    expect(
      changesOf(
        record,
        valuesOf(record, [
          { name: 'days', type: 'int', text: '1', own: { type: 'int', text: '1' } }
        ])
      )
    ).toEqual({});
  });

  it('sends what was touched and no more', () => {
    expect(changesOf(record, { ...values, name: 'other' })).toEqual({ name: 'other' });
    expect(changesOf(record, { ...values, end: '' })).toEqual({ end_time: '' });
    expect(changesOf(record, { ...values, every: '2' })).toEqual({ frequency: 2 });
    expect(changesOf(record, { ...values, unit: 'weeks' })).toEqual({
      frequency: 1,
      time_unit: 'weeks'
    });
    expect(changesOf(record, { ...values, timing: 'cron', cron: '@daily' })).toMatchObject({
      cron_expression: '@daily'
    });
    expect(changesOf(record, { ...values, at: '10:30' })).toEqual({
      start_time: '2026-11-22 10:30'
    });
    expect(changesOf(record, { ...values, start: '2026-12-01' })).toEqual({
      start_time: '2026-12-01 09:00'
    });
  });

  it('of times shows those that the expression says, and sends none that stayed', () => {
    const weekly = aSchedule({ frequency: null, cron_expression: '0 9 * * MON-FRI' });
    const shown = valuesOf(weekly, []);
    expect(shown).toMatchObject({
      timing: 'times',
      times: '09:00',
      weekdays: [1, 2, 3, 4, 5],
      monthDays: ''
    });
    expect(changesOf(weekly, { ...shown, weekdays: [5, 4, 3, 2, 1] })).toEqual({});
    expect(changesOf(weekly, { ...shown, times: '10:00' })).toEqual({
      cron_expression: '0 10 * * 1-5'
    });
    const rare = aSchedule({ frequency: null, cron_expression: '0 0 9 ? * 2#1' });
    expect(valuesOf(rare, [])).toMatchObject({ timing: 'cron', cron: '0 0 9 ? * 2#1' });
  });

  it('changes alerts, and ends them', () => {
    const alerting = aSchedule({ due_by: '08:00', longer_than: 3 });
    const shown = valuesOf(alerting, []);
    expect(shown).toMatchObject({ dueBy: '08:00', longerThan: '3' });
    expect(changesOf(alerting, shown)).toEqual({});
    expect(changesOf(alerting, { ...shown, dueBy: '' })).toEqual({ due_by: '' });
    expect(changesOf(alerting, { ...shown, longerThan: '' })).toEqual({ longer_than: 0 });
    expect(changesOf(record, { ...values, dueBy: '7:30' })).toEqual({ due_by: '07:30' });
  });

  it.each<[Partial<IFormValues>, string[]]>([
    [{ unit: 'weeks', at: '10:00' }, ['Timetable']],
    [{ timing: 'cron', cron: '@daily' }, ['Timetable', 'Dependencies']],
    [{ end: '', timeout: '5' }, ['Time limit (minutes)', 'End']],
    [{ skipMissed: true, files: [] }, ['Missed runs', 'Dependencies']],
    [{ notifyFailure: true, parameters: [] }, ['Parameters', 'Notifications']]
  ])('tells what was touched by the labels of the form: %p', (touched, labels) => {
    expect(labelsOf(trans, changedAttributes(record, { ...values, ...touched }))).toEqual(labels);
  });

  it('keeps what else the command holds', () => {
    const [days] = values.parameters;
    const changed = { ...values, parameters: days ? [{ ...days, text: '30' }] : [] };
    expect(changesOf(record, changed)).toEqual({
      command: { path: 'p.ipynb', arguments: { days: 30 }, upload_to_source: false }
    });
  });

  describe('of one dependency', () => {
    const hidden = {
      id: 'sales',
      initial_instance: '2026-01-01T00:00Z',
      time_zone: 'Asia/Tokyo',
      interval: { hours: 6 }
    };
    const files = [{ path: 'a/%Y', done_flag: '_SUCCESS', window_start: -1, ...hidden }];
    const hive_tables = [
      { schema: 'web', name: 'clicks', columns: { day: ['%Y'], at: 'a|b,c' }, ...hidden }
    ];
    const kept = aSchedule({ dependency_info: { files, hive_tables } });

    it('keeps what the form does not show', () => {
      const shown = valuesOf(kept, []);
      const moved = shown.files.map(one => ({ ...one, path: 'b/%Y', doneFlag: '' }));
      expect(changesOf(kept, { ...shown, files: moved }).dependency_info).toEqual({
        files: [{ path: 'b/%Y', window_start: -1, window_end: 0, ...hidden }],
        hive_tables: [{ ...hive_tables[0], window_start: 0, window_end: 0 }]
      });
      const other = shown.tables.map(one => ({ ...one, columns: 'day=%Y' }));
      const edited = changesOf(kept, { ...shown, tables: other }).dependency_info?.hive_tables?.[0];
      expect(edited).toMatchObject({ ...hidden, columns: { day: '%Y' } });
    });

    it('leaves out what the answer fills in from the schedule', () => {
      const [table = { schema: '', name: '', columns: {} }] = hive_tables;
      const filledIn = { ...table, initial_instance: '', time_zone: 'Europe/Paris' };
      const plain = aSchedule({ dependency_info: { hive_tables: [filledIn] } });
      const shown = valuesOf(plain, []);
      const tables = shown.tables.map(one => ({ ...one, windowStart: '-2' }));
      const sent = changesOf(plain, { ...shown, tables }).dependency_info?.hive_tables?.[0];
      expect(sent).toMatchObject({ id: 'sales', window_start: -2 });
      expect(sent).not.toHaveProperty('time_zone');
      expect(sent).not.toHaveProperty('initial_instance');
    });

    it('takes the step from the form only where the form shows it', () => {
      const cron = aSchedule({
        frequency: null,
        time_unit: null,
        cron_expression: '@daily',
        dependency_info: {
          files: [files[0], { path: 'c', interval: { days: 1 } }].flatMap(f => f ?? [])
        }
      });
      const shown = valuesOf(cron, []);
      expect([shown.stepEvery, shown.stepUnit]).toEqual(['6', 'hours']);
      const steps = (changes: Partial<IFormValues>): unknown =>
        changesOf(cron, { ...shown, ...changes }).dependency_info?.files?.map(one => one.interval);
      expect(steps({ stepEvery: '12' })).toEqual([{ hours: 12 }, { days: 1 }]);
      expect(steps({ files: [...shown.files].reverse() })).toEqual([{ days: 1 }, { hours: 6 }]);
      expect(steps({ timing: 'interval' })).toEqual([undefined, { days: 1 }]);
    });
  });

  it('keeps fields of an object that this extension does not know', () => {
    const notification = { ...record.notification, by_pager: true };
    const paged = aSchedule({ notification });
    const changed = changesOf(paged, { ...valuesOf(paged, []), notifyFailure: true });
    expect(changed.notification).toEqual({ ...notification, notify_failure: true });
  });

  it('takes all dependencies away', () => {
    expect(changesOf(record, { ...values, files: [] })).toEqual({
      dependency_info: { files: [], hive_tables: [] }
    });
  });
});

describe('what is wrong', () => {
  it('stands beside the field that the service names', () => {
    const validator = 'Input should be a valid dictionary';
    const paths = [
      'name',
      'concurrency',
      'longer_than',
      'dependency_info.hive_tables.0.columns',
      'dependency_info.files.0.path',
      'command.arguments.day',
      'command.retry',
      'notification.digest_time_hour',
      'command.path',
      'bitmap'
    ];
    const fields = Object.fromEntries(paths.map(path => [path, validator]));
    const refused = new ServiceError('the service says no', 422, undefined, fields);
    const rows = { files: [2], tables: [1] };
    const problems = problemsIn(trans, refused, VALUES, rows);
    expect(Object.keys(problems)).toEqual([
      'name',
      'concurrency',
      'longerThan',
      'tables.1.columns',
      'files.2.path',
      'parameters',
      'retry',
      'digest',
      'form'
    ]);
    expect(problems['tables.1.columns']).toContain('at least one partition column');
    expect(problems.form).toBe(
      'The service cannot use the copy of the notebook. Save the notebook, then update the scheduled copy.'
    );
    expect(JSON.stringify(Object.values(problems))).not.toMatch(
      /Input should|command|bitmap|digest_time|dependency_info/
    );
    const other = new ServiceError('bitmap: no', 422, undefined, { bitmap: 'no' });
    expect(problemsIn(trans, other, VALUES)).toEqual({
      form: 'The service does not accept values that this form does not show.'
    });
  });

  it('is at the cron field though the service names it only in its message', () => {
    const refused = new ServiceError("cron_expression '0 0 30 2 *' never fires: no such day", 422);
    expect(Object.keys(problemsIn(trans, refused, VALUES))).toEqual(['cron']);
    expect(problemsIn(trans, new ServiceError('the service is stopping', 422), VALUES)).toEqual({
      form: 'the service is stopping'
    });
  });

  it.each([
    'end_time must be later than the next time of cron_expression, 2026-11-22 09:00 (Europe/Paris)',
    'end_time must be later than start_time'
  ])('is at the end that comes before the first run: %s', message => {
    expect(problemsIn(trans, new ServiceError(message, 422), VALUES)).toEqual({
      end: 'Enter a time that is later than the start and than the next run, or leave it empty for no end'
    });
  });

  it('is a time zone that there is not, and none of a former name', () => {
    expect(ownProblems(trans, { ...VALUES, timeZone: 'Mars' })).toEqual({
      timeZone: 'There is no time zone “Mars”'
    });
    expect(ownProblems(trans, { ...VALUES, timeZone: 'Asia/Calcutta' })).toEqual({});
    const old = aSchedule({ time_zone: 'Asia/Calcutta' });
    expect(changesOf(old, valuesOf(old, []))).toEqual({});
  });

  it('is at the times that a service does not take, or at the days that are none', () => {
    const refused = new ServiceError('cron_expression has 0 fields', 422);
    const places = (changes: Partial<IFormValues>): string[] =>
      Object.keys(problemsIn(trans, refused, { ...VALUES, timing: 'times', ...changes }));
    expect(places({})).toEqual(['times']);
    expect(places({ monthDays: '32' })).toEqual(['monthDays']);
    const late = new ServiceError('start_time is wrong', 422);
    const place = (at: string): string[] => Object.keys(problemsIn(trans, late, { ...VALUES, at }));
    expect([place('09:00'), place('9 AM')]).toEqual([['start'], ['at']]);
  });

  it.each<[Partial<IFormValues>, Record<string, string>]>([
    [{ times: '' }, { times: 'Enter times of day, for example 09:00 or 09:00, 17:00' }],
    [{ times: '09:00, 17:30' }, { times: expect.stringContaining('Make another one') as string }],
    [
      { monthDays: '1, 32' },
      { monthDays: 'Enter days from 1 to 31, or “last”, for example 1, 15, last' }
    ],
    [{ times: '09:00, 17:00', at: 'x', start: 'y' }, {}]
  ])('is at the times and days that are none: %j', (typed, problems) => {
    expect(ownProblems(trans, { ...VALUES, timing: 'times', ...typed })).toEqual(problems);
    expect(ownProblems(trans, { ...VALUES, ...typed, timing: 'cron', cron: '@daily' })).toEqual({});
  });

  it('is at the cron field that is empty', () => {
    const cron = { ...VALUES, timing: 'cron', cron: ' ' } as const;
    expect(Object.keys(ownProblems(trans, cron))).toEqual(['cron']);
  });

  it('is at both lists of dependencies if the service refuses them together', () => {
    const reason =
      'an action would wait for 20001 files and partitions; at most 10000 are possible';
    const fields = { dependency_info: reason };
    const refused = new ServiceError(`dependency_info: ${reason}`, 422, undefined, fields);
    expect(Object.keys(problemsIn(trans, refused, VALUES))).toEqual(['files', 'tables']);
  });

  it('is a text that is no time, in the fields that are used', () => {
    const wrong = { at: '9 PM', start: 'today', end: '2026-13-01 09:00', digestTime: '25:00' };
    const marked = (more: object): string[] =>
      Object.keys(ownProblems(trans, { ...VALUES, ...wrong, ...more }));
    expect(marked({})).toEqual(['at', 'start', 'end']);
    expect(marked({ at: '', start: '' })).toEqual(['end']);
    expect(marked({ at: '', start: '2026-11-22' })).toEqual(['at', 'end']);
    expect(marked({ timing: 'cron', cron: '@daily', digest: true })).toEqual(['end', 'digest']);
    expect(marked({ dueBy: '8 AM' })).toEqual(['at', 'start', 'end', 'dueBy']);
    expect(ownProblems(trans, { ...VALUES, end: ' ', dueBy: ' ' })).toEqual({});
  });

  it('is told by the form where it cannot be sent', () => {
    const one = { name: 'days', type: 'int', text: 'x', own: null } as const;
    const problem = (...parameters: IFormValues['parameters']): string | undefined =>
      Object.values(ownProblems(trans, { ...VALUES, parameters }))[0];
    expect(problem(one)).toContain('not of the type int');
    expect(problem({ ...one, name: '1st' })).toContain('not a variable name');
    expect(problem({ ...one, name: '' })).toContain('needs a name');
    expect(problem({ ...one, text: '1' }, { ...one, text: '2' })).toContain('two parameters');
    expect(problem({ ...one, text: '1' })).toBeUndefined();
    expect(problem({ ...one, type: 'float', text: '1239162456494753671' })).toContain(
      'not of the type'
    );
    const own = { type: 'int', text: '1' } as const;
    expect(problem({ name: 'größe', ...own, own })).toBeUndefined();
  });
});

it('writes a table and its columns as they are read', () => {
  expect(tableNameOf('web.clicks')).toEqual({ schema: 'web', name: 'clicks' });
  const text = 'day=%Y-%m-%d, region=EU|US';
  expect(columnsText(columnsOf(text))).toBe(text);
});

it('names a schedule after its notebook, as far as the service takes that', () => {
  expect(nameFrom('a/<img onerror="x">.ipynb')).toBe('_img onerror=_x__');
  expect(nameFrom('röport 🙂.ipynb')).toBe('röport 🙂');
});

it.each(['a/b c.ipynb', '..%2e/"x".ipynb', '<img>:7.ipynb'])(
  'finds the notebook of a form again: %s',
  path => {
    expect(argumentsOfForm(newFormId(path))).toEqual({ path });
    expect(argumentsOfForm(editFormId(7))).toEqual({ schedule: 7 });
  }
);
