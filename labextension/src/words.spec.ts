import { iconOf, runningTime } from './words';

it.each([
  [0, '00:00'],
  [64, '01:04'],
  [3723, '1:02:03'],
  [-5, '00:00']
])('%d seconds of a run are %s', (seconds, words) => {
  expect(runningTime(seconds)).toBe(words);
});

it('has an icon for every status, however it is written', () => {
  expect([iconOf('running'), iconOf('RUNNING'), iconOf('UP'), iconOf('constructor')]).toEqual([
    '◐',
    '◐',
    '●',
    '·'
  ]);
});
