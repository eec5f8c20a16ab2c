import { nullTranslator } from '@jupyterlab/translation';
import { ServiceError } from '../service';
import { rebased } from './branches';
import { type IItem, type IPage, type ITree, keyOf, treeItem } from './items';
import { TreeModel } from './model';
import { deletionText, obstacleToMove, possibleSteps } from './steps';

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
  constructor(public paths: string[]) {}

  list(item: IItem): Promise<IPage> {
    const found = this.paths.map(directory).filter(one => one.parent === item.path);
    return Promise.resolve({ items: found, nextPage: null });
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

  it('finds what was read, with what it is in', () => {
    const found = (text: string): string[] => {
      model.search = text;
      return model.rows.map(row => `${row.depth} ${row.item.path}`);
    };
    expect(found('deep')).toEqual(['0 ', '1 Common', '2 Common/a', '3 Common/a/deep']);
    expect(found('b')).toEqual(['0 ', '1 Common', '2 Common/b']);
    expect(found('notebooks')).toEqual([]);
    expect(found('common')).toHaveLength(5);
    expect(found('')).toHaveLength(5);
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

describe('what can be done about an item', () => {
  it('leaves roots where they are', () => {
    expect([...possibleSteps(directory('Common'))]).toEqual(['create', 'upload']);
    expect(possibleSteps(directory('Common/a')).has('move')).toBe(true);
    expect(possibleSteps(treeItem('notes', 'Notes')).size).toBe(0);
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
