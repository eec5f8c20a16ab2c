/**
 * Milliseconds after a change for which JupyterLab may not have stored it: it waits for half a second without another
 * one, then its request takes as long as the network does.
 */
const UNSAVED_FOR = 5_000;

/** When the state of the page was changed for the last time. */
export class LastChange {
  /** `clock` returns milliseconds. */
  constructor(private readonly _clock: () => number) {}

  /** Note a change now. */
  note(): void {
    this._at = this._clock();
  }

  /** Whether the change may not be stored yet; a page that was left alone does not overwrite its workspace. */
  get isUnsaved(): boolean {
    return this._clock() - this._at < UNSAVED_FOR;
  }

  private _at = -Infinity;
}
