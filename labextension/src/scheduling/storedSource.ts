import { PathExt } from '@jupyterlab/coreutils';
import { pathOf, type ServiceRequests } from '../service';
import type { INote } from '../service/records/notes';
import type { INotebookSource, IReadNotebook, Saved } from './notebookSource';

/** The copy that a schedule runs: the notebook of an edit, independent of the local one. */
export class StoredSource implements INotebookSource {
  /**
   * @param path - The copy's path in the service when the edit began.
   * @param place - Returns its current path: an update of the copy changes it.
   */
  constructor(
    private readonly _requests: ServiceRequests,
    readonly path: string,
    private readonly _place: () => Promise<string>
  ) {
    this.name = PathExt.basename(path);
  }

  readonly name: string;
  readonly isUntitled = false;

  save(): Promise<Saved> {
    return Promise.resolve('before');
  }

  async read(): Promise<IReadNotebook> {
    const path = `contents/${pathOf(...(await this._place()).split('/'))}`;
    return (await this._requests.get<{ content: IReadNotebook }>(path)).content;
  }
}

/** The note that a schedule runs, as the service has it. */
export class NoteSource implements INotebookSource {
  constructor(readonly note: INote) {
    this.name = note.name;
  }

  readonly path = '';
  readonly name: string;
  readonly isUntitled = false;

  save(): Promise<Saved> {
    return Promise.resolve('before');
  }

  read(): Promise<IReadNotebook> {
    return Promise.resolve({ cells: [], metadata: {} });
  }
}
