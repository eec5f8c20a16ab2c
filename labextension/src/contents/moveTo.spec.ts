import { Dialog } from '@jupyterlab/apputils';
import { nullTranslator } from '@jupyterlab/translation';
import { type IItem, type ITree, treeItem } from './items';
import { chosenPlace } from './moveTo';
import { TreeModel } from './model';

const folder = (path: string): IItem => {
  const cut = path.lastIndexOf('/');
  const parent = path.slice(0, Math.max(cut, 0));
  const name = path.slice(cut + 1);
  return { tree: 'jupyter', kind: 'directory', name, path, parent, isRoot: cut < 0, id: null };
};
const PATHS = ['Common', 'Common/a', 'Common/a/deep', 'Common/b'];

describe('chosenPlace', () => {
  it('enables Move here only where the item can be moved to', async () => {
    const list = (item: IItem): ReturnType<ITree['list']> =>
      Promise.resolve({
        items: PATHS.map(folder).filter(one => one.parent === item.path),
        nextPage: null
      });
    const tree = { item: treeItem('jupyter', 'Notebooks'), list } as unknown as ITree;
    const select = jest.spyOn(TreeModel.prototype, 'select');
    const launched = new Promise<Dialog<unknown>>(resolve => {
      jest.spyOn(Dialog.prototype, 'launch').mockImplementation(function (this: Dialog<unknown>) {
        resolve(this);
        return new Promise(() => undefined);
      });
    });
    void chosenPlace(nullTranslator.load(''), tree, folder('Common/a'));
    const dialog = await launched;
    const model = select.mock.contexts[0] as TreeModel;
    const isEnabledAt = (path: string): boolean => {
      model.select(folder(path));
      return !(dialog.node.querySelector('button.jp-mod-accept') as HTMLButtonElement).disabled;
    };
    expect(PATHS.filter(isEnabledAt)).toEqual(['Common/b']);
  });
});
