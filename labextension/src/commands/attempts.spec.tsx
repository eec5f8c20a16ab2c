import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot } from 'react-dom/client';
import type { IAttempt, ICommand } from '../service/records/commands';
import { Attempts } from './attempts';

const FIRST: IAttempt = {
  number: 1,
  start_time: 1_795_248_001,
  end_time: 1_795_248_002,
  exit_code: 1,
  message: null
};
const EXACT = { started_at: '2026-11-21T08:00:01.900Z', ended_at: '2026-11-21T08:00:02.047Z' };

it('says how long each attempt took: exactly where the service tells, else to the second', () => {
  const attempts = [
    FIRST,
    { ...FIRST, ...EXACT, number: 2 },
    { ...FIRST, number: 3, end_time: null }
  ];
  const command = { status: 'running', attempts } as unknown as ICommand;
  const host = document.createElement('div');
  const root = createRoot(host);
  act(() => {
    root.render(
      <Attempts
        command={command}
        now={new Date('2026-11-21T09:00:00Z')}
        trans={nullTranslator.load('')}
      />
    );
  });
  const texts = [...host.querySelectorAll('li')].map(line => line.textContent);
  act(() => {
    root.unmount();
  });
  expect(texts.map(text => text.split(' · ').slice(1))).toEqual([
    ['03:00:01', '1 s'],
    ['03:00:01', '0.1 s'],
    ['03:00:01']
  ]);
});
