import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookModel } from '@jupyterlab/notebook';
import { asServiceError, pathOf, type ServiceError, type ServiceRequests } from '../service';
import type { INoteRecord } from '../service/records/folders';

/** Where the metadata of a note's copy say of which note it is, and of which version; the server extension writes it. */
const MARK = 'svc_jupyter';

/** What a copy knows of its note. */
export interface INoteMark {
  note: number;
  /** Counts the note's edits; absent where the service does not count them. */
  version?: number;
}

/** What is used of an open notebook. */
export type ICopyContext = Pick<DocumentRegistry.IContext<INotebookModel>, 'save'> & {
  readonly model: Pick<INotebookModel, 'dirty' | 'getMetadata' | 'setMetadata'>;
};

/** Who is told what became of saving a copy back. */
export interface ICopyListener {
  saved(note: INoteRecord): void;
  /** `overwrite` saves it all the same, whatever the note says by now. */
  refused(error: ServiceError, mark: INoteMark, overwrite: () => Promise<void>): void;
}

/** Return of which note a notebook is a copy; null for any other notebook. */
export function markOf(model: Pick<INotebookModel, 'getMetadata'>): INoteMark | null {
  const mark = model.getMetadata(MARK) as Partial<INoteMark> | null | undefined;
  if (typeof mark?.note !== 'number') {
    return null;
  }
  return typeof mark.version === 'number'
    ? { note: mark.note, version: mark.version }
    : { note: mark.note };
}

/**
 * A note that is open as a notebook of the Jupyter server: whenever that is saved, the note says the same.
 *
 * One saving goes on at a time; a save during one is followed by another.
 */
export class NoteCopy {
  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _context: ICopyContext,
    /** Returns the copy's path as the Jupyter server knows it. */
    private readonly _path: () => string,
    private readonly _listener: ICopyListener
  ) {}

  /** Take that the copy was saved on the Jupyter server. Resolves when the note says the same, or the listener knows why not. */
  async onSaved(): Promise<void> {
    if (this._isMarking) {
      this._savesWhileMarking += 1;
    } else {
      await this._catchUp(false);
    }
  }

  private async _catchUp(overwrite: boolean): Promise<void> {
    this._isBehind = true;
    if (this._isStoring) {
      return;
    }
    this._isStoring = true;
    try {
      while (this._isBehind) {
        this._isBehind = false;
        await this._store(overwrite);
      }
    } finally {
      this._isStoring = false;
    }
  }

  private async _store(overwrite: boolean): Promise<void> {
    const mark = markOf(this._context.model);
    if (!mark) {
      return;
    }
    try {
      const body = { path: this._path(), overwrite };
      const note = await this._requests.put<INoteRecord>(
        pathOf('notes', mark.note, 'document'),
        body
      );
      if (note.version !== undefined) {
        await this._remember({ ...mark, version: note.version });
      }
      this._listener.saved(note);
    } catch (reason) {
      this._listener.refused(asServiceError(reason), mark, () => this._catchUp(true));
    }
  }

  /** Keep the note's new version in the copy, unless it is edited again by now: then it is kept by the next save. */
  private async _remember(mark: INoteMark): Promise<void> {
    const { model } = this._context;
    const isEdited = model.dirty;
    model.setMetadata(MARK, mark);
    if (!isEdited || this._isBehind) {
      this._isMarking = true;
      this._savesWhileMarking = 0;
      try {
        await this._context.save();
      } finally {
        this._isMarking = false;
        this._isBehind ||= this._savesWhileMarking > 1;
      }
    }
  }

  private _isStoring = false;
  /** Whether the copy was saved since its note was. */
  private _isBehind = false;
  /** Whether the save under way is this one's own. */
  private _isMarking = false;
  /** How often the copy was saved since then: one of them is this one's own. */
  private _savesWhileMarking = 0;
}
