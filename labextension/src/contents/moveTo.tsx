import { Dialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { ReactWidget, UseSignal } from '@jupyterlab/ui-components';
import type { JSX } from 'react';
import { type IItem, type ITree, keyOf, parentOf } from './items';
import { TreeModel } from './model';
import { moveText, obstacleToMove } from './steps';
import { TreeView } from './treeView';

/** Let the user choose an item's new folder; null to cancel. Fully usable by keyboard. */
export async function chosenPlace(
  trans: TranslationBundle,
  tree: ITree,
  item: IItem
): Promise<IItem | null> {
  const model = new TreeModel([tree]);
  await model.restore(keysOnTheWay(tree, item));
  model.select(model.branches.at(item.tree, item.parent));
  for (;;) {
    const dialog = new Dialog({
      title: trans.__('Move %1', item.name),
      body: new MoveToBody(trans, model, item),
      buttons: [
        Dialog.cancelButton({ label: trans.__('Cancel') }),
        Dialog.okButton({ label: trans.__('Move here') })
      ],
      focusNodeSelector: '[role="row"][tabindex="0"]'
    });
    const enable = (): void => {
      const button = dialog.node.querySelector<HTMLButtonElement>('button.jp-mod-accept');
      if (button) {
        button.disabled = obstacleToMove(trans, item, model.selected) !== null;
      }
    };
    model.changed.connect(enable);
    enable();
    const answer = await dialog.launch();
    model.changed.disconnect(enable);
    if (!answer.button.accept) {
      return null;
    }
    // Enter in the dialog presses a disabled button, too.
    if (obstacleToMove(trans, item, model.selected) === null) {
      return model.selected;
    }
  }
}

/** The choice of a folder, and the resulting move. */
class MoveToBody extends ReactWidget {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _model: TreeModel,
    private readonly _item: IItem
  ) {
    super();
    this.addClass('jp-SvcMoveTo');
  }

  protected override render(): JSX.Element {
    const trans = this._trans;
    return (
      <UseSignal signal={this._model.changed}>
        {() => (
          <>
            <TreeView trans={trans} model={this._model} label={trans.__('Folders')} placesOnly />
            <p role="status">{moveText(trans, this._item, this._model.selected)}</p>
          </>
        )}
      </UseSignal>
    );
  }
}

/** Return the keys of the tree and of all possible containers of an item. */
function keysOnTheWay(tree: ITree, item: IItem): string[] {
  const kind = item.tree === 'jupyter' ? 'directory' : 'folder';
  const keys = [keyOf(tree.item)];
  for (let path = parentOf(item.parent); path !== ''; path = parentOf(path)) {
    keys.push(keyOf({ ...item, kind, path }));
  }
  return keys;
}
