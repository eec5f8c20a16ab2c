import { InputDialog } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { isConfirmed } from '../panel';
import type { ServiceRequests } from '../service';
import type { ILocalCopy, IWorkspaceItem } from '../service/records/contents';
import { ownFolder } from './folderTree';
import { type IItem, lastPart, pathIn, placeAt } from './items';
import type { JupyterTree } from './jupyterTree';
import type { TreeModel } from './model';
import { deletionText, kindWord } from './steps';

/** The target of copies and the source of uploads. */
export interface ILocalSide {
  /** The folder of the Jupyter server for new copies. */
  folder(): string;
  /** Open a copy. */
  open(copy: ILocalCopy): Promise<void>;
  /** Save an open notebook, and return its path on the Jupyter server. */
  saved(): Promise<string>;
}

/** The user's steps on items; each asks for its input or confirmation once, naming the item. */
export class ContentsActions {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _model: TreeModel,
    private readonly _requests: ServiceRequests,
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
    await this._named(title, item.name, async name => {
      if (name !== item.name) {
        return this._model.rename(item, name);
      }
      this._model.forgive();
      return true;
    });
  }

  /** Make a dashboard of what a note shows now, in the user's own folder. */
  async publish(note: IItem): Promise<void> {
    const found = await this._model.ask(note, async () => ({
      location: await ownFolder(this._requests, 'notebook_dashboards')
    }));
    if (!found) {
      return;
    }
    const { location } = found;
    const title = this._trans.__('New dashboard of %1 in %2', note.path, location);
    await this._named(title, note.name, name =>
      this._model.put(placeAt('notebook_dashboards', location), async () => {
        const body = { note_id: note.id, name, location };
        return pathIn(await this._requests.post<IWorkspaceItem>('dashboards', body));
      })
    );
  }

  /** Let the user choose a folder, and move an item there. */
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
    if (
      await isConfirmed(this._trans, {
        title: yes,
        text: deletionText(this._trans, item, answer.told),
        yes
      })
    ) {
      await this._model.remove(item);
    }
  }

  /** Store the open notebook in a directory; an existing item of that name is replaced only after a confirmation. */
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
    const text = this._trans.__(
      'Replace %1? What it holds now is gone. Runs of it from now on take the new one.',
      there
    );
    if (!answer.isTaken || (await isConfirmed(this._trans, { title: yes, text, yes }))) {
      await this._model.put(place, () => tree.store(local, place, name));
    }
  }

  /** Ask for a name until the service accepts one or the user cancels; the typed text is kept. */
  private async _named(
    title: string,
    text: string,
    step: (name: string) => Promise<boolean>
  ): Promise<void> {
    let label = this._trans.__('Name');
    let name = text;
    for (;;) {
      const answer = await InputDialog.getText({ title, label, text: name, required: true });
      if (!answer.button.accept || !answer.value) {
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
