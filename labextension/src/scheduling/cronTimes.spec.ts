import { clocksIn, cronOf, crossed, monthDaysIn, timesOf } from './cronTimes';

const NONE = { times: '09:00', weekdays: [], monthDays: '' };

describe('times on days', () => {
  it.each([
    [{}, '0 9 * * *'],
    [{ times: '17:00, 9:00' }, '0 9,17 * * *'],
    [{ times: '09:00 09:30;17:30 17:00, 09:00' }, '0,30 9,17 * * *'],
    [{ weekdays: [1, 5, 2, 3, 4] }, '0 9 * * 1-5'],
    [{ weekdays: [1, 2, 3, 4, 5, 6, 0] }, '0 9 * * *'],
    [{ weekdays: [6, 0] }, '0 9 * * 0,6'],
    [{ monthDays: '15, 1 last' }, '0 9 1,15,L * *'],
    [{ monthDays: '1-7, 5, L' }, '0 9 1-7,L * *'],
    [{ weekdays: [1], monthDays: '1' }, '0 9 1 * 1']
  ])('are written as cron: %j', (typed, expression) => {
    expect(cronOf({ ...NONE, ...typed })).toBe(expression);
  });

  it.each([
    { times: '' },
    { times: '9 AM' },
    { times: '24:00' },
    { times: '09:00, 17:30' },
    { times: '09:00, 09:30, 17:00' },
    { monthDays: '0' },
    { monthDays: '32' },
    { monthDays: '7-1' },
    { monthDays: 'first' }
  ])('are none, or too many for one expression: %j', typed => {
    expect(cronOf({ ...NONE, ...typed })).toBeNull();
  });

  it('tell a text that is no time from times for which one expression is not enough', () => {
    expect(clocksIn('09:00, noon')).toBeNull();
    expect(clocksIn(' ')).toBeNull();
    expect(clocksIn('09:00, 17:30')).toEqual([
      [9, 0],
      [17, 30]
    ]);
    expect(
      crossed([
        [9, 0],
        [17, 30]
      ])
    ).toBeNull();
    expect(monthDaysIn('')).toBe('');
  });

  it.each([
    ['0 9 * * *', {}],
    ['30,0 17,9 * * ?', { times: '09:00, 09:30, 17:00, 17:30' }],
    [' 0  9 ? * MON-FRI ', { weekdays: [1, 2, 3, 4, 5] }],
    ['0 9 * * 6,7', { weekdays: [0, 6] }],
    ['0 9 * * sun,Wed', { weekdays: [0, 3] }],
    ['0 9-11 * * *', { times: '09:00, 10:00, 11:00' }],
    ['5 0 L,1-7,15 * *', { times: '00:05', monthDays: '1-7, 15, last' }]
  ])('are read from cron: %s', (expression, expected) => {
    expect(timesOf(expression)).toEqual({ ...NONE, ...expected });
  });

  it.each([
    '',
    '@daily',
    '0 9 * *',
    '0 0 9 * * ?',
    '* 9 * * *',
    '*/5 * * * *',
    '0-59 9 * * *',
    '0 9 * 1 *',
    '0 9 */2 * *',
    '0 9 LW * *',
    '0 9 * * FRI-MON',
    '0 9 * * 5L',
    '0 9 * * MON#2',
    '0 9 * * 8',
    '60 9 * * *',
    '0 24 * * *'
  ])('are not what this expression says: %s', expression => {
    expect(timesOf(expression)).toBeNull();
  });

  it.each(['0 9 * * 1-5', '0,30 9,17 1-7,15,L * 0,3', '15 0 * * *'])(
    'are the same after they were read and written: %s',
    expression => {
      const read = timesOf(expression);
      expect(read && cronOf(read)).toBe(expression);
    }
  );
});
