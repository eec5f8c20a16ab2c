import { PathExt } from '@jupyterlab/coreutils';
import { pathOf, type ServiceRequests } from '../service';
import type { INotebookSource, Saved } from './notebookSource';
import type { IExecutedCell } from './shownWarnings';

/** The copy that a schedule runs: what an edit of the schedule is about, whatever became of the notebook here. */
export class StoredSource implements INotebookSource {
  /**
   * @param path - Where the service had it when the editing began.
   * @param place - Returns where it has it now: an update of the copy gives it another place.
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

  async cells(): Promise<IExecutedCell[]> {
    const path = `contents/${pathOf(...(await this._place()).split('/'))}`;
    const stored = await this._requests.get<{ content: { cells: IExecutedCell[] } }>(path);
    return stored.content.cells;
  }
}
