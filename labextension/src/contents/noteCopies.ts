import type { INotebookModel } from '@jupyterlab/notebook';
import { asServiceError, pathOf, type ServiceError, type ServiceRequests } from '../service';
import type { INoteRecord } from '../service/records/folders';

/** Where the metadata of a note's copy name the note; what binds the two is known to the Jupyter server alone. */
const MARK = 'svc_jupyter';
const TO_BE_ASKED = 428;

/** What is used of an open notebook. */
export type ICopyModel = Pick<INotebookModel, 'getMetadata'>;

/** What can be told to the Jupyter server beside the path: save whatever the note says by now; be a copy, or none. */
export interface ISaving {
  overwrite?: boolean;
  bind?: boolean;
}

/** Who is told what became of saving a copy back. */
export interface ICopyListener {
  saved(note: INoteRecord): void;
  /** The notebook names a note, and was not opened from it here: nothing is saved before `answer` is called. */
  asked(question: ServiceError, answer: (bind: boolean) => Promise<void>): void;
  /** `overwrite` saves it all the same, whatever the note says by now. */
  refused(error: ServiceError, note: number, overwrite: () => Promise<void>): void;
}

/** Return the id of the note that a notebook names; null for any other notebook. */
export function noteOf(model: ICopyModel): number | null {
  const mark = model.getMetadata(MARK) as { note?: unknown } | null | undefined;
  return typeof mark?.note === 'number' ? mark.note : null;
}

/**
 * A note that is open as a notebook of the Jupyter server: whenever that is saved, the note says the same.
 *
 * One saving goes on at a time; a save during one is followed by another.
 */
export class NoteCopy {
  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _model: ICopyModel,
    /** Returns the copy's path as the Jupyter server knows it. */
    private readonly _path: () => string,
    private readonly _listener: ICopyListener
  ) {}

  /** Take that the copy was saved on the Jupyter server. Resolves when the note says the same, or the listener knows why not. */
  async onSaved(saving: ISaving = {}): Promise<void> {
    this._next = saving;
    if (this._isStoring) {
      return;
    }
    this._isStoring = true;
    try {
      while (this._next) {
        const next: ISaving = this._next;
        this._next = null;
        await this._store(next);
      }
    } finally {
      this._isStoring = false;
    }
  }

  private async _store(saving: ISaving): Promise<void> {
    const note = noteOf(this._model);
    if (note === null) {
      return;
    }
    try {
      const body = { path: this._path(), ...saving };
      const record = await this._requests.put<INoteRecord | { saved: false }>(
        pathOf('notes', note, 'document'),
        body
      );
      if (!('saved' in record)) {
        this._listener.saved(record);
      }
    } catch (reason) {
      const error = asServiceError(reason);
      if (error.status === TO_BE_ASKED) {
        this._ask(error);
      } else {
        this._listener.refused(error, note, () => this.onSaved({ overwrite: true }));
      }
    }
  }

  /** Ask once, however often the notebook is saved until there is an answer. */
  private _ask(question: ServiceError): void {
    if (!this._isAsked) {
      this._isAsked = true;
      this._listener.asked(question, bind => {
        this._isAsked = false;
        return this.onSaved({ bind });
      });
    }
  }

  private _isStoring = false;
  /** How to save what was saved in the notebook since its note was; null for nothing. */
  private _next: ISaving | null = null;
  private _isAsked = false;
}
