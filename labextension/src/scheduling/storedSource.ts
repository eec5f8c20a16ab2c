import { PathExt } from '@jupyterlab/coreutils';
import { pathOf, type ServiceRequests } from '../service';
import type { INotebookSource, Saved } from './notebookSource';
import type { IExecutedCell } from './shownWarnings';

/** The copy that a schedule runs: what an edit of the schedule is about, whatever became of the notebook here. */
export class StoredSource implements INotebookSource {
  /** @param path - Where the service has it. */
  constructor(
    private readonly _requests: ServiceRequests,
    readonly path: string
  ) {
    this.name = PathExt.basename(path);
  }

  readonly name: string;
  readonly isUntitled = false;

  save(): Promise<Saved> {
    return Promise.resolve('before');
  }

  async cells(): Promise<IExecutedCell[]> {
    const path = `contents/${pathOf(...this.path.split('/'))}`;
    const stored = await this._requests.get<{ content: { cells: IExecutedCell[] } }>(path);
    return stored.content.cells;
  }
}
