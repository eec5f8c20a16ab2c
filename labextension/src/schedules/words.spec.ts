import { nullTranslator } from '@jupyterlab/translation';
import type { IScheduleRecord } from '../service/records/schedules';
import { attentionCount, inOrder } from './order';
import { type IRun, runsOf } from './runs';
import { cancelQuestion, questionOf, stepLabel, stepsOf } from './steps';
import { aCommand, anAction, aSchedule } from './testing';
import {
  alertLimits,
  alertText,
  has,
  hasFailed,
  lastText,
  nameOf,
  needsAttention,
  nextText,
  reasonOf,
  shownStatus,
  timetableText,
  withByHand,
  wordOf
} from './words';

const trans = nullTranslator.load('svc_jupyter');
const NOW = new Date('2026-11-21T12:00Z');
const FAILED = anAction({ status: 'error', message: 'NameError: days\nTraceback' });

describe('what a list says', () => {
  it('tells the next and the last run', () => {
    const schedule = aSchedule({ time_zone: 'UTC', last_action: FAILED });
    document.documentElement.lang = 'en';
    expect(nextText(trans, schedule, NOW)).toContain('next Sun 22 Nov');
    expect(lastText(trans, schedule, NOW)).toMatch(/^last run failed \d\d:00$/);
    expect(lastText(trans, aSchedule(), NOW)).toBe('not run yet');
  });

  it('finds a schedule by its name, its id, a tag, and every text of what it runs', () => {
    const schedule = aSchedule({
      id: 4711,
      name: 'Nightly report',
      label: 'hadoop2',
      tags: 'Finance,daily',
      command_type: 'CompositeCommand',
      command: {
        sub_commands: [
          { command_type: 'ShellCommand', inline: 'date' },
          { command_type: 'DbTapQueryCommand', query: 'SELECT origin\nFROM flights', db_tap_id: 83 }
        ],
        macros: [{ day: '"2026"' }]
      }
    });
    for (const text of [
      'night',
      '471',
      'hadoop',
      'finance',
      'daily',
      'date',
      'select origin',
      '2026'
    ]) {
      expect([text, has(schedule, text)]).toEqual([text, true]);
    }
    for (const text of ['weekly', 'inline', 'null', '83', 'undefined', 'object']) {
      expect([text, has(schedule, text)]).toEqual([text, false]);
    }
    expect(has(aSchedule({ tags: null, label: null }), 'null')).toBe(false);
  });

  it('does not claim that it never ran where the service does not tell', () => {
    const untold = aSchedule();
    delete untold.last_action;
    expect(lastText(trans, untold, NOW)).toBe('');
  });

  it('says why nothing comes', () => {
    expect(nextText(trans, aSchedule({ status: 'SUSPENDED' }), NOW)).toBe('suspended');
    expect(nextText(trans, aSchedule({ status: 'DONE' }), NOW)).toContain('end time has passed');
    expect(nextText(trans, aSchedule({ status: 'KILLED' }), NOW)).toBe('ended by hand');
  });

  it('has words of its own where the service has none', () => {
    const plain = { description: null };
    expect(timetableText(trans, aSchedule(plain))).toBe('every day (Europe/Paris)');
    expect(timetableText(trans, aSchedule({ ...plain, frequency: 3, time_unit: 'weeks' }))).toBe(
      'every 3 weeks (Europe/Paris)'
    );
    expect(timetableText(trans, aSchedule({ ...plain, cron_expression: '0 9 * * *' }))).toBe(
      'cron 0 9 * * * (Europe/Paris)'
    );
  });

  it('names a schedule by its name and its id, and by the id alone where that is the name', () => {
    expect(nameOf(aSchedule())).toBe('report (12)');
    expect(nameOf(aSchedule({ name: '12' }))).toBe('12');
  });
});

describe('what an action says', () => {
  it('tells whose turn a waiting one waits for', () => {
    expect(wordOf(trans, anAction({ status: 'waiting', query_hist_id: null }))).toContain(
      'dependencies'
    );
    expect(wordOf(trans, anAction({ status: 'waiting', query_hist_id: 7 }))).toContain('free slot');
  });

  it('tells the reason in one line', () => {
    expect(reasonOf(trans, FAILED)).toBe('NameError: days');
    const waits = { status: 'waiting', query_hist_id: null, message: null };
    const missing = { dependencies: { found: [], not_found: ['a', 'b', 'c'] } };
    expect(reasonOf(trans, anAction({ ...waits, ...missing }))).toBe('missing: a and 2 more');
    expect(reasonOf(trans, anAction())).toBe('');
  });
});

describe('an alert', () => {
  const late = {
    alert: 'late',
    action_id: 70,
    nominal_time: '2026-11-21T02:00:00Z',
    since: '2026-11-21T07:00:00Z'
  } as const;

  it('names the run by its time, and by its day where that is another', () => {
    document.documentElement.lang = 'en';
    expect(alertText(trans, late, NOW)).toBe(
      'the run for Fri 20 Nov 21:00 is late, due by 02:00' // New York
    );
    expect(alertText(trans, { ...late, alert: 'long' }, NOW)).toBe(
      'the run for Fri 20 Nov 21:00 takes longer than usual'
    );
  });

  it('needs attention as much as a failure', () => {
    const running = anAction({ status: 'running', done: false });
    expect(needsAttention(aSchedule({ last_action: running, alerts: [] }))).toBe(false);
    const listed = aSchedule({ last_action: running, alerts: [late] });
    expect([needsAttention(listed), hasFailed(listed)]).toEqual([true, false]);
    expect(inOrder([aSchedule({ id: 1 }), listed]).map(one => one.id)).toEqual([12, 1]);
  });

  it('is limited by a time of day and by a multiple', () => {
    expect(alertLimits(trans, '08:00', '')).toBe('due by 08:00');
    expect(alertLimits(trans, '08:00', '2.5')).toBe('due by 08:00, over 2.5 × median');
    expect(alertLimits(trans, '', '')).toBe('');
  });
});

describe('the order of a list', () => {
  const failed = aSchedule({
    id: 1,
    last_action: FAILED,
    next_materialized_time: '2026-12-01 09:00'
  });
  const soon = aSchedule({ id: 2 });
  const later = aSchedule({ id: 3, next_materialized_time: '2026-11-23 09:00' });
  const resting = aSchedule({ id: 4, status: 'SUSPENDED' });
  const over = aSchedule({ id: 5, status: 'KILLED', last_action: FAILED });

  it('begins with what failed, then comes what runs next', () => {
    const ids = inOrder([over, resting, later, soon, failed]).map(one => one.id);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
  });

  it('counts what needs attention, which nothing does that is over', () => {
    expect(attentionCount([over, failed, soon])).toBe(1);
  });

  it('counts a failure by hand as much as a scheduled one, until a newer run', () => {
    const byHand = aCommand({ id: 500, status: 'error' });
    const listed = withByHand(aSchedule({ last_action: anAction() }), byHand);
    expect(needsAttention(listed)).toBe(true);
    expect(lastText(trans, listed, NOW)).toMatch(/^run by hand failed/);
    expect(shownStatus(listed)).toBe('error');
    const newer = aSchedule({ last_action: anAction({ query_hist_id: 501 }) });
    expect(needsAttention(withByHand(newer, byHand))).toBe(false);
    expect(lastText(trans, withByHand(aSchedule(), byHand), NOW)).not.toContain('not run yet');
  });
});

describe('the steps', () => {
  it('are those of the status', () => {
    expect(stepsOf(aSchedule())).toEqual(['edit', 'run', 'suspend', 'kill']);
    expect(stepsOf(aSchedule({ status: 'SUSPENDED' }))).toContain('resume');
    expect(stepsOf(aSchedule({ status: 'DONE' }))).toEqual(['run']);
  });

  it('do not run the copy of a killed schedule, which is removed', () => {
    const killed = (path: string): IScheduleRecord =>
      aSchedule({ status: 'KILLED', command: { path, arguments: null } });
    const folder = 'Users/ann@example.com/Scheduled';
    expect(stepsOf(killed(`${folder}/0123456789ab-0123456789abcdef/report.ipynb`))).toEqual([]);
    expect(stepsOf(killed(`${folder}/report.ipynb`))).toEqual(['run']);
    expect(stepsOf(killed('Common/report.ipynb'))).toEqual(['run']);
  });

  it('offer the form for notebooks alone', () => {
    expect(stepsOf(aSchedule({ command_type: 'ShellCommand' }))).not.toContain('edit');
    const of = (command: IScheduleRecord['command']): readonly string[] =>
      stepsOf(aSchedule({ command_type: 'SparkCommand', command }));
    expect(of({ note_id: 9 })).toContain('edit');
    expect(of({ note_id: null })).not.toContain('edit');
  });

  it('ask by name before what nothing undoes, and before a flood of missed runs', () => {
    expect(questionOf(trans, 'kill', aSchedule())?.title).toBe('End report (12)?');
    expect(stepLabel(trans, 'kill')).toBe('End…');
    expect(questionOf(trans, 'resume', aSchedule())?.text).toBe(
      'The runs that were missed meanwhile come first, oldest first.'
    );
    expect(questionOf(trans, 'resume', aSchedule({ no_catch_up: true }))).toBeNull();
    expect(questionOf(trans, 'suspend', aSchedule())).toBeNull();
    const [run] = runsOf([], [aCommand()]);
    expect(cancelQuestion(trans, run as IRun, aSchedule(), NOW).title).toBe(
      'Cancel the run of report (12), by hand?'
    );
  });
});
