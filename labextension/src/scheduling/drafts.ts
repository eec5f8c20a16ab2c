import type { IStateDB } from '@jupyterlab/statedb';
import type { ReadonlyPartialJSONValue } from '@lumino/coreutils';
import { EXTENSION_ID } from '../service';
import type { IScheduleRecord } from '../service/records/schedules';
import type { IFormValues } from './formValues';

/** What is kept of a form that is open: a reload, or a service that was away, loses nothing that was typed. */
export interface IDraft {
  values: IFormValues;
  /** The schedule as it was when its editing began; null for a new one. */
  record: IScheduleRecord | null;
}

/** The draft of one form, in the state of the workspace. */
export class DraftStore {
  /** @param id - The schedule that is edited; null for a new one of the notebook at `path`. */
  constructor(
    private readonly _state: IStateDB,
    path: string,
    id: number | null
  ) {
    this._key = `${EXTENSION_ID}:schedule-form:${id ?? 'new'}:${path}`;
  }

  private readonly _key: string;

  /** Return what was kept; null for nothing. */
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
