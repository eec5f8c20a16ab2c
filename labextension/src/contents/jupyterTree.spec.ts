import type { ServiceRequests } from '../service';
import { FolderTree } from './folderTree';
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

describe('a search', () => {
  const asked: unknown[] = [];
  const answering = (answer: object): ServiceRequests =>
    ({
      get: (...call: unknown[]) => {
        asked.push(call);
        return Promise.resolve(answer);
      }
    }) as unknown as ServiceRequests;
  const file = (path: string): object => ({ type: 'notebook', name: path.split('/').pop(), path });
  const folder = (location: string, parent_id: number | null): object => ({
    ...{ type: 'notes', name: '', location, parent_id, id: 1 }
  });

  beforeEach(() => {
    asked.length = 0;
  });

  it.each([
    [[file('Common/a.ipynb'), file('Users/ann@example.org/Common')], null],
    [[], undefined],
    [[], 'only the first 200 are listed']
  ])('asks for notebooks in all folders', async (content, message) => {
    const found = await new JupyterTree(answering({ content, message }), 'Notebooks').find('a');
    expect(asked).toEqual([['contents', { type: 'directory', search: 'a' }]]);
    expect(found?.items.map(({ path, parent, isRoot }) => [path, parent, isRoot])).toEqual(
      content.length
        ? [
            ['Common/a.ipynb', 'Common', false],
            ['Users/ann@example.org/Common', 'Users/ann@example.org', false]
          ]
        : []
    );
    expect(found?.leftOut).toBe(message ?? null);
  });

  it.each(['Common', 'Users', 'Users/ann@example.org'])(
    'is none where a service answers with its roots, here %p',
    async path => {
      const files = answering({ content: [file(path)], message: null });
      expect(await new JupyterTree(files, 'Notebooks').find('a')).toBeNull();
    }
  );

  it('asks for notes in all folders', async () => {
    const note = { id: 7, name: 'n', location: 'Common/a' };
    const answer = {
      ...{ folders: [folder('Common/a', 3)], notes: [note], paging_info: { next_page: 2 } }
    };
    const found = await new FolderTree(answering(answer), 'notes', 'Notes').find('a');
    expect(asked).toEqual([['folders', { type: 'notes', search: 'a', page: 1, per_page: 100 }]]);
    expect(found?.items.map(({ kind, path }) => [kind, path])).toEqual([
      ['folder', 'Common/a'],
      ['note', 'Common/a/n']
    ]);
    expect(found?.leftOut).toBe('');
    const roots = { folders: [folder('Common', null)], paging_info: { next_page: null } };
    expect(await new FolderTree(answering(roots), 'notes', 'Notes').find('a')).toBeNull();
  });
});
