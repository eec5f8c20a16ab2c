import type { INotebookModel } from '@jupyterlab/notebook';
import { asServiceError, pathOf, type ServiceError, type ServiceRequests } from '../service';
import type { INoteRecord } from '../service/records/contents';

/** The metadata key that names the note of a copy; the binding itself is stored on the Jupyter server only. */
const MARK = 'svc_jupyter';
const TO_BE_ASKED = 428;

/** The used part of an open notebook. */
export type ICopyModel = Pick<INotebookModel, 'getMetadata'>;

/** Options of a save besides the path: overwrite the current note; bind the copy, or leave it unbound. */
export interface ISaving {
  overwrite?: boolean;
  bind?: boolean;
}

/** Receives the outcome of saving a copy back. */
export interface ICopyListener {
  saved(note: INoteRecord): void;
  /** The notebook names a note but was not opened from it here: nothing is saved before `answer` is called. */
  asked(question: ServiceError, answer: (bind: boolean) => Promise<void>): void;
  /** `overwrite` saves it anyway, replacing the note's current document. */
  refused(error: ServiceError, note: number, overwrite: () => Promise<void>): void;
}

/** Return the id of the note that a notebook names, or null. */
export function noteOf(model: ICopyModel): number | null {
  const mark = model.getMetadata(MARK) as { note?: unknown } | null | undefined;
  return typeof mark?.note === 'number' ? mark.note : null;
}

/**
 * A note opened as a notebook of the Jupyter server: each save of the notebook also saves the note.
 *
 * Saves run one at a time; a save during another one follows it.
 */
export class NoteCopy {
  constructor(
    private readonly _requests: ServiceRequests,
    private readonly _model: ICopyModel,
    /** Returns the copy's path on the Jupyter server. */
    private readonly _path: () => string,
    private readonly _listener: ICopyListener
  ) {}

  /**
   * Handle a save of the copy on the Jupyter server. Resolves when the note is saved or the listener has the reason why
   * not; with whether the note is saved.
   */
  onSaved(saving: ISaving = {}): Promise<boolean> {
    this._next = saving;
    this._storing ??= this._storeAll();
    return this._storing;
  }

  /** Resolves once no save is under way, with whether the last one is in the note. */
  get settled(): Promise<boolean> {
    return this._storing ?? Promise.resolve(this._isStored);
  }

  /** Resolves once no save is under way, with whether the last one was refused. */
  get refused(): Promise<boolean> {
    return this.settled.then(() => this._isRefused);
  }

  private async _storeAll(): Promise<boolean> {
    try {
      while (this._next) {
        const next: ISaving = this._next;
        this._next = null;
        this._isStored = await this._store(next);
      }
    } finally {
      this._storing = null;
    }
    return this._isStored;
  }

  private async _store(saving: ISaving): Promise<boolean> {
    const note = noteOf(this._model);
    this._isRefused = false;
    if (note === null) {
      return false;
    }
    try {
      const body = { path: this._path(), ...saving };
      const record = await this._requests.put<INoteRecord | { saved: false }>(
        pathOf('notes', note, 'document'),
        body
      );
      if (!('saved' in record)) {
        this._listener.saved(record);
        return true;
      }
    } catch (reason) {
      const error = asServiceError(reason);
      if (error.status === TO_BE_ASKED) {
        this._ask(error);
      } else {
        this._isRefused = true;
        this._listener.refused(error, note, () =>
          this.onSaved({ overwrite: true }).then(() => undefined)
        );
      }
    }
    return false;
  }

  /** Ask once, regardless of the number of saves until the answer. */
  private _ask(question: ServiceError): void {
    if (!this._isAsked) {
      this._isAsked = true;
      this._listener.asked(question, bind => {
        this._isAsked = false;
        return this.onSaved({ bind }).then(() => undefined);
      });
    }
  }

  private _storing: Promise<boolean> | null = null;
  private _isStored = false;
  private _isRefused = false;
  /** The options of the pending save; null for none. */
  private _next: ISaving | null = null;
  private _isAsked = false;
}
