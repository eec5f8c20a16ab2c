import type { ServiceRequests } from '../service';
import { treeItem } from './items';
import { JupyterTree } from './jupyterTree';

const shown: string[] = [];
jest.mock('../notices', () => ({ notify: (text: string) => shown.push(text) }));

it.each([
  ['the notebook was repaired: tags', ['the notebook was repaired: tags']],
  [null, []]
])('an upload says what was repaired, here %p', async (message, notices) => {
  shown.length = 0;
  const answer = { path: 'Common/a.ipynb', message };
  const requests = { post: () => Promise.resolve(answer) } as unknown as ServiceRequests;
  const tree = new JupyterTree(requests, 'Notebooks');
  expect(await tree.store('a.ipynb', treeItem('jupyter', 'Notebooks'), 'a.ipynb')).toBe(
    'Common/a.ipynb'
  );
  expect(shown).toEqual(notices);
});
