import { nullTranslator } from '@jupyterlab/translation';
import EXAMPLES from './durations.json';
import { duration, iconOf, span } from './words';

const trans = nullTranslator.load('svc_jupyter');

it.each(Object.entries(EXAMPLES.span))('%s seconds so far are %s', (seconds, words) => {
  expect(span(trans, Number(seconds))).toBe(words);
});

it.each(Object.entries(EXAMPLES.duration))('%s seconds were %s', (seconds, words) => {
  expect(duration(trans, Number(seconds))).toBe(words);
});

it('has an icon for every status, however it is written', () => {
  expect([iconOf('running'), iconOf('RUNNING'), iconOf('UP'), iconOf('constructor')]).toEqual([
    '◐',
    '◐',
    '●',
    '·'
  ]);
});
