import { Dialog, InputDialog, showDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ILocalCopy } from '../service/records/contents';
import { type IItem, lastPart } from './items';
import type { JupyterTree } from './jupyterTree';
import type { TreeModel } from './model';
import { deletionText, kindWord } from './steps';

/** Where copies go to and uploads come from. */
export interface ILocalSide {
  /** The folder of the Jupyter server that new copies go into. */
  folder(): string;
  /** Open a copy. */
  open(copy: ILocalCopy): Promise<void>;
  /** Save a notebook that is open, and return its path on the Jupyter server. */
  saved(): Promise<string>;
}

/** What a person does about items, and how each step is asked for: once, by name. */
export class ContentsActions {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _model: TreeModel,
    private readonly _local: ILocalSide
  ) {}

  /** Copy an item to the Jupyter server, and open the copy. */
  async open(item: IItem): Promise<void> {
    const { folder } = this._local;
    const copy = await this._model.ask(item, tree => tree.copy(item, folder()));
    if (copy) {
      await this._local.open(copy);
    }
  }

  async create(place: IItem): Promise<void> {
    const title = this._trans.__('New folder in %1', place.path);
    await this._named(title, '', name => this._model.create(place, name));
  }

  async rename(item: IItem): Promise<void> {
    const title = this._trans.__('Rename %1 %2', kindWord(this._trans, item.kind), item.path);
    await this._named(title, item.name, name => this._model.rename(item, name));
  }

  /** Let the person choose a folder, and move an item there. */
  async move(item: IItem): Promise<void> {
    const { chosenPlace } = await import('./moveTo');
    const place = await chosenPlace(this._trans, this._model.treeOf(item.tree), item);
    if (place) {
      await this._model.move(item, place);
    }
  }

  async remove(item: IItem): Promise<void> {
    const answer = await this._model.ask(item, async tree => ({ told: await tree.whatGoes(item) }));
    if (!answer) {
      return;
    }
    const yes = this._trans.__('Delete %1', item.name);
    if (await this._isConfirmed(yes, deletionText(this._trans, item, answer.told))) {
      await this._model.remove(item);
    }
  }

  /** Store the open notebook in a directory; one that has its name there is only replaced after a question. */
  async upload(tree: JupyterTree, place: IItem): Promise<void> {
    const local = await this._local.saved();
    const name = lastPart(local);
    const there = `${place.path}/${name}`;
    const answer = await this._model.ask(place, async () => ({
      isTaken: await tree.has(place, name)
    }));
    if (!answer) {
      return;
    }
    const yes = this._trans.__('Replace %1', name);
    const question = this._trans.__(
      'Replace %1? What it holds now is gone. Runs of it from now on take the new one.',
      there
    );
    if (!answer.isTaken || (await this._isConfirmed(yes, question))) {
      await this._model.put(place, () => tree.store(local, place, name));
    }
  }

  private async _isConfirmed(yes: string, question: string): Promise<boolean> {
    const answer = await showDialog({
      title: yes,
      body: question,
      buttons: [
        Dialog.cancelButton({ label: this._trans.__('No, leave it') }),
        Dialog.warnButton({ label: yes })
      ],
      defaultButton: 0
    });
    return answer.button.accept;
  }

  /** Ask for a name until the service takes one, or the person gives up; what was typed stays. */
  private async _named(
    title: string,
    text: string,
    step: (name: string) => Promise<boolean>
  ): Promise<void> {
    let label = this._trans.__('Name');
    let name = text;
    for (;;) {
      const answer = await InputDialog.getText({ title, label, text: name, required: true });
      if (!answer.button.accept || !answer.value || answer.value === text) {
        this._model.forgive();
        return;
      }
      name = answer.value;
      if (await step(name)) {
        return;
      }
      label = this._model.problem ?? label;
    }
  }
}
