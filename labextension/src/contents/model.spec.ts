import { nullTranslator } from '@jupyterlab/translation';
import { ServiceError } from '../service';
import { Branches, LOADING, rebased } from './branches';
import {
  type IFound,
  type IItem,
  type IPage,
  type ItemKind,
  type ITree,
  keyOf,
  treeItem,
  type TreeName
} from './items';
import { TreeModel } from './model';
import { deletionText, obstacleToMove, possibleSteps, type Step } from './steps';

const trans = nullTranslator.load('svc_jupyter');

function directory(path: string): IItem {
  const cut = path.lastIndexOf('/');
  return {
    tree: 'jupyter',
    kind: 'directory',
    name: path.slice(cut + 1),
    path,
    parent: path.slice(0, Math.max(cut, 0)),
    isRoot: cut < 0,
    id: null
  };
}

/** A tree in memory: directories keyed by path. */
class MemoryTree implements ITree {
  readonly item = treeItem('jupyter', 'Notebooks');
  refusal: string | null = null;
  leftOut: string | null = null;
  /** What a search gives: what it finds, nothing as the service does not search, or a failure. */
  searches: true | null | ServiceError = true;

  constructor(public paths: string[]) {}

  list(item: IItem): Promise<IPage> {
    const found = this.paths.map(directory).filter(one => one.parent === item.path);
    return Promise.resolve({ items: found, nextPage: null });
  }

  find(text: string): Promise<IFound | null> {
    if (this.searches instanceof ServiceError) {
      return Promise.reject(this.searches);
    }
    const items = this.paths.map(directory).filter(one => one.parent && one.name.includes(text));
    return Promise.resolve(this.searches && { items, leftOut: this.leftOut });
  }

  create = (place: IItem, name: string): Promise<string> =>
    this._become('', `${place.path}/${name}`);
  rename = (item: IItem, name: string): Promise<string> =>
    this._become(item.path, `${item.parent}/${name}`);
  move = (item: IItem, place: IItem): Promise<string> =>
    this._become(item.path, `${place.path}/${item.name}`);

  async remove(item: IItem): Promise<void> {
    await this._become(item.path, '');
  }
  whatGoes = (): Promise<null> => Promise.resolve(null);
  copy = (): Promise<never> => Promise.reject(new Error('not asked for here'));

  private _become(from: string, to: string): Promise<string> {
    if (this.refusal !== null) {
      return Promise.reject(new ServiceError(this.refusal, 422));
    }
    const kept = this.paths.filter(path => path !== from && !path.startsWith(`${from}/`));
    const moved = this.paths
      .filter(path => from !== '' && path.startsWith(`${from}/`))
      .map(path => to + path.slice(from.length));
    this.paths = to === '' ? kept : [...kept, to, ...moved];
    return Promise.resolve(to);
  }
}

describe('TreeModel', () => {
  let tree: MemoryTree;
  let model: TreeModel;
  const lines = (): string[] =>
    model.branches.rows().map(row => `${row.depth} ${row.kind} ${row.item.path}`);
  const at = (path: string): IItem => {
    const item = model.branches.at('jupyter', path);
    if (!item) {
      throw new Error(`${path} is not shown`);
    }
    return item;
  };

  beforeEach(async () => {
    tree = new MemoryTree(['Common', 'Common/a', 'Common/a/deep', 'Common/b']);
    model = new TreeModel([tree]);
    await model.open(tree.item);
    await model.open(at('Common'));
    await model.open(at('Common/a'));
  });

  it('reads what is opened, folder by folder', async () => {
    expect(lines()).toEqual([
      '0 item ',
      '1 item Common',
      '2 item Common/a',
      '3 item Common/a/deep',
      '2 item Common/b'
    ]);
    await model.open(at('Common/b'));
    expect(lines().at(-1)).toBe('3 empty Common/b');
  });

  it('keeps open what was open below an item that moves, and selects it there', async () => {
    expect(await model.move(at('Common/a'), at('Common/b'))).toBe(true);
    expect(model.selected?.path).toBe('Common/b/a');
    expect(lines()).toContain('4 item Common/b/a/deep');
  });

  it('leaves everything as it was when a move is refused', async () => {
    const before = lines();
    tree.refusal = 'Common/b/a exists already';
    expect(await model.move(at('Common/a'), at('Common/b'))).toBe(false);
    expect(lines()).toEqual(before);
    expect(model.problem).toBe('Common/b/a exists already');
    expect(model.busy).toBeNull();
  });

  it('selects the folder that a deleted item was in', async () => {
    await model.remove(at('Common/a'));
    expect(model.selected?.path).toBe('Common');
    expect(lines()).not.toContain('2 item Common/a');
  });

  it('does not close what is opened while it looks again', async () => {
    const looking = model.refresh();
    await model.open(at('Common/b'));
    await looking;
    expect(model.branches.branch(at('Common/b'))).toBeDefined();
  });

  it('stays closed when it is closed before it was read', async () => {
    const opening = model.open(at('Common/b'));
    model.close(at('Common/b'));
    await opening;
    expect(model.branches.branch(at('Common/b'))).toBeUndefined();
  });

  it('asks no more for what has gone', async () => {
    tree.paths = ['Common'];
    await model.refresh();
    expect(lines()).toEqual(['0 item ', '1 item Common', '2 empty Common']);
  });

  it('shows why a folder cannot be read in its place', async () => {
    jest.spyOn(tree, 'list').mockRejectedValueOnce(new ServiceError('you may not read it', 403));
    await model.open(at('Common/b'));
    expect(model.branches.rows().at(-1)).toMatchObject({
      kind: 'problem',
      text: 'you may not read it'
    });
  });
});

describe('a search', () => {
  let tree: MemoryTree;
  let model: TreeModel;
  const lines = (): string[] =>
    model.rows.map(({ depth, kind, item, isOpen, isFixed }) => {
      const mark = isFixed ? '=' : isOpen ? '-' : '+';
      return `${depth} ${kind === 'item' ? mark : kind} ${item.path}`;
    });
  const found = async (text: string): Promise<string[]> => {
    await model.find(text);
    return lines();
  };
  const row = (path: string): IItem => {
    const one = model.rows.find(({ kind, item }) => kind === 'item' && item.path === path);
    if (!one) {
      throw new Error(`${path} has no row`);
    }
    return one.item;
  };

  /** Let the service answer when the test does. */
  const pending = (): { answers: ((found: IFound) => void)[] } => {
    const answers: ((found: IFound) => void)[] = [];
    jest.spyOn(tree, 'find').mockImplementation(() => new Promise(done => answers.push(done)));
    return { answers };
  };

  beforeEach(async () => {
    tree = new MemoryTree(['Common', 'Common/b', 'Common/b/deep', 'Common/a', 'Common/a/deep']);
    model = new TreeModel([tree]);
    await model.open(tree.item);
  });

  it('finds in folders that were never opened, and shows what contains it', async () => {
    expect(await found('deep')).toEqual([
      '0 = ',
      '1 = Common',
      '2 = Common/a',
      '3 + Common/a/deep',
      '2 = Common/b',
      '3 + Common/b/deep'
    ]);
    expect(model.isWhole).toBe(true);
    expect(await found('nothing')).toEqual([]);
    expect(await found('')).toEqual(['0 - ', '1 + Common']);
  });

  it('shows all that is in a found folder once it is opened, and then again what was found', async () => {
    tree.paths.push('Common/b/bb');
    const before = ['0 = ', '1 = Common', '2 - Common/b', '3 + Common/b/bb'];
    expect(await found('b')).toEqual(before);
    await model.open(row('Common/b'));
    expect(lines().sort()).toEqual([...before, '3 + Common/b/deep'].sort());
    model.close(row('Common/b'));
    expect(lines()).toEqual(before);
  });

  it('counts the rows of a folder', async () => {
    tree.paths.push('Common/best');
    await model.find('b');
    await model.open(row('Common/best'));
    const places = model.rows.map(({ item, place, size }) => `${item.path} ${place}/${size}`);
    expect(places.slice(0, 4)).toEqual([' 1/1', 'Common 1/1', 'Common/b 1/2', 'Common/best 2/2']);
  });

  it('lists folders first, each kind by name', async () => {
    const file = (path: string): IItem => ({ ...directory(path), kind: 'notebook' });
    const items = [
      file('Common/b'),
      file('Common/a'),
      directory('Common/d'),
      directory('Common/c')
    ];
    jest.spyOn(tree, 'find').mockResolvedValue({ items, leftOut: null });
    const names = (await found('x')).slice(2).map(line => line.at(-1));
    expect(names).toEqual(['c', 'd', 'a', 'b']);
  });

  it('is in what was read where the service does not search', async () => {
    await model.open(row('Common'));
    await model.open(row('Common/b'));
    tree.searches = null;
    expect(await found('deep')).toEqual([
      '0 = ',
      '1 = Common',
      '2 = Common/b',
      '3 + Common/b/deep'
    ]);
    expect(model.isWhole).toBe(false);
    tree.searches = new ServiceError('there is no such call', 405);
    expect(await found('b')).toEqual(['0 = ', '1 = Common', '2 - Common/b', '3 + Common/b/deep']);
    expect(model.problem).toBeNull();
    expect(await found('common')).toEqual([]);
  });

  it('finds nothing where the user may see nothing', async () => {
    await model.open(row('Common'));
    tree.searches = new ServiceError('notebooks are switched off for this account', 403);
    expect(await found('b')).toEqual([]);
    expect([model.isWhole, model.problem]).toEqual([true, null]);
  });

  it('shows what was read until the service answers', async () => {
    await model.open(row('Common'));
    tree.paths.push('Common/a/b');
    const finding = model.find('b');
    expect([model.isSearching, lines()]).toEqual([true, ['0 = ', '1 = Common', '2 + Common/b']]);
    await finding;
    expect([model.isSearching, lines().length]).toEqual([false, 5]);
  });

  it('keeps what was found while it asks for it again, and not for another text', async () => {
    const before = await found('deep');
    expect(before).toHaveLength(6);
    const { answers } = pending();
    const again = model.find('deep');
    expect(lines()).toEqual(before);
    const other = model.find('dee');
    expect(lines()).toEqual([]);
    for (const answer of answers) {
      answer({ items: [], leftOut: null });
    }
    await Promise.all([again, other]);
  });

  it('takes the answer to its last text, whichever comes last', async () => {
    const { answers } = pending();
    const both = [model.find('b'), model.find('a')];
    answers[1]?.({ items: [directory('Common/a')], leftOut: null });
    answers[0]?.({ items: [directory('Common/b')], leftOut: null });
    await Promise.all(both);
    expect(lines()).toEqual(['0 = ', '1 = Common', '2 + Common/a']);
  });

  it('says that the service could not be asked', async () => {
    tree.searches = new ServiceError('the service does not answer', 0);
    await model.find('b');
    expect([model.problem, model.isSearching]).toEqual(['the service does not answer', false]);
    tree.searches = true;
    await model.find('b');
    expect(model.problem).toBeNull();
  });

  it.each(['nothing', ''])('keeps selected only what it shows, then with %p', async text => {
    await model.find('b');
    model.select(row('Common/b'));
    await model.find('deep');
    expect(model.selected?.path).toBe('Common/b');
    await model.find(text);
    expect(model.selected).toBeNull();
  });

  it('is in the names and ids that were read of one tree', () => {
    const note = { ...directory('Common/Ab'), tree: 'notes' as const, id: 7 };
    const tops = [treeItem('jupyter', 'Notebooks'), treeItem('notes', 'Notes')] as const;
    const items = [note, { ...directory('Users/ab'), tree: 'notes' as const, isRoot: true }];
    const branches = new Branches(tops).with(tops[1], { ...LOADING, items });
    for (const [text, paths] of [
      ['ab', ['Common/Ab']],
      ['7', ['Common/Ab']],
      ['77', []]
    ] as const) {
      expect(branches.found('notes', text).map(({ path }) => path)).toEqual(paths);
      expect(branches.found('jupyter', text)).toEqual([]);
    }
  });

  it('says that there is more', async () => {
    tree.leftOut = 'only 2 were searched';
    expect(await found('b')).toEqual(['0 = ', '1 = Common', '2 + Common/b', '1 cut ']);
    expect(await found('nothing')).toEqual(['0 + ', '1 cut ']);
    expect(model.rows.at(-1)?.text).toBe('only 2 were searched');
  });

  it('asks again after a step, and keeps selected what still has a row', async () => {
    await model.find('b');
    expect(await model.rename(row('Common/b'), 'best')).toBe(true);
    expect(lines()).toEqual(['0 = ', '1 = Common', '2 + Common/best']);
    expect(model.selected?.path).toBe('Common/best');
    await model.refresh();
    expect(model.selected?.path).toBe('Common/best');
    expect(await model.remove(row('Common/best'))).toBe(true);
    expect([lines(), model.selected]).toEqual([[], null]);
  });
});

describe('what can be done about an item', () => {
  it('leaves roots where they are', () => {
    expect([...possibleSteps(directory('Common'))]).toEqual(['create', 'upload']);
    expect(possibleSteps(directory('Common/a')).has('move')).toBe(true);
    expect(possibleSteps(treeItem('notes', 'Notes')).size).toBe(0);
    const steps = (tree: TreeName, kind: ItemKind): Step[] => [
      ...possibleSteps({ ...directory('Common'), tree, kind })
    ];
    expect(steps('notes', 'folder')).toEqual(['create', 'note']);
    expect(steps('notebook_dashboards', 'folder')).toEqual(['create']);
    expect(steps('notes', 'note')).toEqual(['open', 'publish']);
  });

  it('knows where an item cannot lie', () => {
    const item = directory('Common/a');
    const obstacle = (place: IItem | null): string | null => obstacleToMove(trans, item, place);
    expect(obstacle(directory('Common/a/deep'))).toContain('cannot be in itself');
    expect(obstacle(directory('Common'))).toContain('already');
    expect(obstacle({ ...directory('Common/b'), tree: 'notes', kind: 'folder' })).toContain(
      'another tree'
    );
    expect(obstacle(null)).toBe('choose a folder');
    expect(obstacle(directory('Common/ab'))).toBeNull();
  });

  it('says what a deletion takes', () => {
    const told = 'deleting Common/a takes 1 folder';
    expect(deletionText(trans, directory('Common/a'), told)).toBe(
      'Delete folder Common/a? Deleting Common/a takes 1 folder.'
    );
    expect(deletionText(trans, directory('Common/a'), null)).toContain('All that is in it');
  });

  it('carries open keys over to a new place, and no others', () => {
    const open = [directory('Common/a'), directory('Common/ab'), directory('Common/a/deep')];
    const keys = rebased(open.map(keyOf), directory('Common/a'), 'Common/b/a');
    expect([...keys]).toEqual([
      'jupyter:directory:Common/b/a',
      'jupyter:directory:Common/ab',
      'jupyter:directory:Common/b/a/deep'
    ]);
  });
});
