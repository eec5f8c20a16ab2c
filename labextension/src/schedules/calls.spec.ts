import type { ServiceRequests } from '../service';
import { ScheduleCalls } from './calls';

const shown: string[] = [];
jest.mock('../notices', () => ({ notify: (text: string) => shown.push(text) }));

function answering(answer: object): ScheduleCalls {
  const call = (): Promise<object> => Promise.resolve(answer);
  return new ScheduleCalls({ post: call, put: call } as unknown as ServiceRequests);
}

const CALLS: [string, (calls: ScheduleCalls) => Promise<object>][] = [
  ['a new schedule', calls => calls.create('a.ipynb', {})],
  ['a run', calls => calls.runNotebook('a.ipynb', {})],
  ['a new copy', calls => calls.updateCopy('a.ipynb')]
];

describe('what of a notebook was repaired for its copy', () => {
  it.each(CALLS)('is shown once after %s', async (_, call) => {
    shown.length = 0;
    const answer = { id: 7, copy_message: 'the notebook was repaired: tags' };
    expect(await call(answering(answer))).toEqual(answer);
    expect(shown).toEqual(['the notebook was repaired: tags']);
  });

  it.each(CALLS)('is not shown after %s without repairs', async (_, call) => {
    shown.length = 0;
    await call(answering({ id: 7 }));
    await call(answering({ id: 7, copy_message: null }));
    expect(shown).toEqual([]);
  });
});
