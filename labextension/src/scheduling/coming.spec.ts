import { nullTranslator } from '@jupyterlab/translation';
import { aSchedule } from '../schedules/testing';
import { comingText, comingTimes, nextTime } from './coming';

const trans = nullTranslator.load('svc_jupyter');
const NOW = new Date('2026-11-21T12:00Z');
const PREVIEWED = ['2026-11-21T08:00:00Z', '2026-11-22T08:00:00Z', '2026-11-23T08:00:00Z'];

describe('the next run', () => {
  beforeAll(() => {
    document.documentElement.lang = 'en';
  });

  const previewed = (): string => {
    const [first = NOW] = comingTimes(PREVIEWED, NOW);
    return nextTime(first, NOW, 'Europe/Paris');
  };

  it.each(['2026-11-22 09:00', '2026-11-21 09:00'])(
    'is the same in the form and in the message, with its zone and not past, from %s on',
    next_materialized_time => {
      const made = aSchedule({ next_materialized_time });
      expect(previewed()).toBe('Sun 22 Nov 09:00 (Europe/Paris)');
      expect(comingText(trans, made, PREVIEWED, NOW)).toBe(`next ${previewed()}`);
    }
  );

  it('is due now where the form showed none', () => {
    const made = aSchedule({ next_materialized_time: '2026-11-21 09:00' });
    expect(comingText(trans, made, [], NOW)).toBe('the next run is due now');
  });

  it('is none of a schedule that is suspended or over', () => {
    const suspended = aSchedule({ status: 'SUSPENDED' });
    expect(comingText(trans, suspended, PREVIEWED, NOW)).toBe('suspended');
    const over = aSchedule({ status: 'DONE', next_materialized_time: null });
    expect(comingText(trans, over, PREVIEWED, NOW)).toBe('ended: its end time has passed');
  });
});
