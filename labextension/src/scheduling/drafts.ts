import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { EXTENSION_ID } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import type { IFormValues } from './formValues';

/** Counts the shapes of drafts: the form cannot show one of another shape. */
const SHAPE = 4;

/** The stored state of an open form: a reload or an outage of the service loses no input. */
export interface IDraft {
  values: IFormValues;
  /** The schedule as it was when the edit began; null for a new one. */
  record: IScheduleRecord | null;
}

/** The draft of one form, in the workspace's state. */
export class DraftStore {
  /**
   * @param id - The edited schedule; null for a new one of the notebook at `path`.
   */
  constructor(
    private readonly _state: IStateDB,
    path: string,
    id: number | null
  ) {
    this._key = `${EXTENSION_ID}:schedule-form-${SHAPE}:${id ?? 'new'}:${path}`;
  }

  private readonly _key: string;

  /** Return the stored draft, or null. */
  async load(): Promise<IDraft | null> {
    const kept = (await this._state.fetch(this._key)) as IDraft | undefined;
    return kept?.values ? kept : null;
  }

  async save(draft: IDraft): Promise<void> {
    await this._state.save(this._key, draft as unknown as ReadonlyPartialJSONValue);
  }

  async forget(): Promise<void> {
    await this._state.remove(this._key);
  }
}
