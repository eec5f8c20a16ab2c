import { nullTranslator } from '@jupyterlab/translation';
import {
  forText,
  parametersText,
  runsOf,
  startedText,
  statusText,
  summaryOfRuns,
  tookText
} from './runs';
import { aCommand, anAction, aSchedule } from './testing';

const trans = nullTranslator.load('svc_jupyter');
const NOW = new Date('2026-11-23T12:00:00Z');
const START = Date.parse('2026-11-23T08:00:01Z') / 1000;

const failed = anAction({
  id: 3,
  nominal_time: '2026-11-23T08:00:00Z',
  created_at: '2026-11-23T08:00:00Z',
  status: 'error',
  message: "cell 5: KeyError: 'EU'\nthe run stopped there",
  command: aCommand({ start_time: START, end_time: START + 72, status: 'error' })
});
const retried = anAction({
  id: 2,
  created_at: '2026-11-22T08:00:00Z',
  command: aCommand({ retry: 2, attempts: [1, 2].map(number => ({ number })) as never })
});
const byHand = aCommand({
  id: 409,
  status: 'running',
  created_at: '2026-11-23T11:59:58Z',
  start_time: NOW.getTime() / 1000 - 2,
  end_time: null
});

describe('the runs of a schedule', () => {
  const [now, last, before] = runsOf([failed, retried], [byHand]);

  it('are the actions and the runs by hand, newest first', () => {
    expect([now, last, before].map(run => run && forText(trans, run, NOW))).toEqual([
      'by hand',
      expect.stringMatching(/^today \d\d:\d\d$/),
      expect.stringMatching(/^Sat 21 Nov/)
    ]);
  });

  it('say when they started, how long they took, and how they ended', () => {
    expect(last && startedText(last, NOW)).toMatch(/^\d\d:\d\d:01$/);
    expect(last && tookText(trans, last, NOW)).toBe('1 min 12 s');
    expect(now && tookText(trans, now, NOW)).toBe('2 s');
    expect(last && statusText(trans, last)).toBe("failed · cell 5: KeyError: 'EU'");
    expect(before && statusText(trans, before)).toBe('done · attempt 2 of 3');
    expect(now && statusText(trans, now)).toBe('running');
  });

  it('took what the service says exactly, in whole seconds so far', () => {
    const exact = {
      started_at: '2026-11-23T08:00:01.200Z',
      ended_at: '2026-11-23T08:00:01.247Z'
    };
    const [quick] = runsOf([], [aCommand({ end_time: 1_795_248_001, ...exact })]);
    expect(quick && tookText(trans, quick, NOW)).toBe('47 ms');
    expect(summaryOfRuns(trans, quick ? [quick] : [])).toMatch(/ · median 47 ms, slowest 47 ms$/);
    expect(now && tookText(trans, now, new Date(NOW.getTime() + 400))).toBe('2 s');
    const ended = anAction({ done: true, command: aCommand({ end_time: null }) });
    const [stopped] = runsOf([ended], []);
    expect(stopped && tookText(trans, stopped, NOW)).toBe('');
    const waiting = aCommand({ status: 'waiting', start_time: null, end_time: null });
    const [before] = runsOf([], [waiting]);
    expect(before && tookText(trans, before, NOW)).toBe('');
  });

  it('have the values of their macros among their parameters', () => {
    const command = { arguments: { day: '$day$', path: '/$region$/$day$/$n$', n: 7 } };
    const resolved_macros = [{ day: '2026-11-22' }, { region: 'EU' }];
    const [run] = runsOf([], [aCommand({ command, resolved_macros })]);
    expect(run && parametersText(run, aSchedule())).toBe(
      'day = 2026-11-22, path = /EU/2026-11-22/$n$, n = 7'
    );
    const waiting = anAction({ command: null, query_hist_id: null });
    const [planned] = runsOf([waiting], []);
    const schedule = aSchedule({ command: { arguments: { day: '$day$' } } });
    expect(planned && parametersText(planned, schedule)).toBe('day = $day$');
    expect(planned && parametersText(planned, aSchedule())).toBe('');
  });

  it('are counted in one line', () => {
    const quick = anAction({ command: aCommand({ end_time: 1_795_248_001 }) });
    expect(summaryOfRuns(trans, runsOf([failed, retried, quick], [aCommand(), byHand]))).toBe(
      'last 5 runs: 2 done, 1 failed, 1 under way, 1 by hand · median 4 s, slowest 1 min 12 s'
    );
  });
});
