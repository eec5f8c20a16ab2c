import type { TranslationBundle } from '@jupyterlab/translation';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import type { ScheduleCalls } from '../schedules/calls';
import { asServiceError, Resource, type ServiceError } from '../service';
import type { ICommand } from '../service/records/commands';
import type { INote } from '../service/records/notes';
import type {
  IScheduleBody,
  ISchedulePreview,
  IScheduleRecord
} from '../service/records/schedules';
import { changedAttributes, changesOf } from './changes';
import type { DraftStore } from './drafts';
import { bodyOf, timetableOf } from './formBody';
import {
  completeRows,
  isFromNow,
  type ISentRows,
  ownProblems,
  type ProblemKey,
  type Problems,
  problemsIn,
  resizedBy,
  touchedBy
} from './formProblems';
import type { IFormValues } from './formValues';
import { labelsOf } from './labels';
import type { INotebookSource, IReadNotebook, Saved } from './notebookSource';
import { parametersOfForms } from './noteParameters';
import { declaringPart, type IParameter, parameterOf, withDeclared } from './parameters';
import { type IWarningCell, warningCells } from './shownWarnings';

/** Milliseconds after the last key press until the service is called and the draft is stored. */
export const TYPING_PAUSE = 250;
const PREVIEW_INTERVAL = 15_000;
const TOO_LARGE = 413;
const INVALID = 422;

/** The state of saving the notebook; `problem` says why it failed. */
export type SavingState = 'saving' | Saved | { problem: string };

/** The state of a form. */
export interface IFormState {
  readonly values: IFormValues;
  /** What is wrong where: only of fields that were touched, and of all once the form was sent. */
  readonly problems: Problems;
  /** How often the form was sent in vain; the first marked field takes the focus each time. */
  readonly refusals: number;
  readonly saving: SavingState;
  readonly warnings: readonly IWarningCell[];
  /** Why the notebook's cell of parameters cannot be read, or null. */
  readonly unreadable: string | null;
  /** The note that runs instead of the notebook, or null. */
  readonly note: INote | null;
  /** The schedules that the notebook of a new one has already. */
  readonly others: readonly IScheduleRecord[];
  readonly isWorking: boolean;
  /** Why the last attempt failed, or null. */
  readonly failure: string | null;
}

/** The parts of a form. */
export interface IFormOptions {
  source: INotebookSource;
  calls: ScheduleCalls;
  drafts: DraftStore;
  trans: TranslationBundle;
  values: IFormValues;
  /** The edited schedule; absent for a new one. */
  record?: IScheduleRecord;
}

/** The logic of the schedule form, without widgets. */
export class ScheduleFormModel implements IDisposable {
  constructor(options: IFormOptions) {
    this._options = options;
    this.source = options.source;
    this.record = options.record ?? null;
    this._state = {
      values: options.values,
      problems: {},
      refusals: 0,
      saving: 'saving',
      warnings: [],
      unreadable: null,
      note: options.source.note ?? null,
      others: [],
      isWorking: false,
      failure: null
    };
    this.preview = new Resource<ISchedulePreview>({
      name: 'schedule-preview',
      fetch: signal => this._ask(signal),
      interval: PREVIEW_INTERVAL,
      longestInterval: PREVIEW_INTERVAL
    });
    this.preview.changed.connect(this._onPreview, this);
    this._typed = new Debouncer(() => this._afterTyping(), TYPING_PAUSE);
  }

  readonly source: INotebookSource;
  readonly record: IScheduleRecord | null;
  /** The next times, or the reason why there are none; requested while the form is visible. */
  readonly preview: Resource<ISchedulePreview>;

  /** Emitted at every change of `state`. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get state(): IFormState {
    return this._state;
  }

  get isDisposed(): boolean {
    return this._isDisposed;
  }

  /** Whether the preview is of the form's current timetable. */
  get isPreviewCurrent(): boolean {
    return timetableKey(this._state.values) === this._previewedKey;
  }

  /** The next times that the service gave for the form's current timetable; empty for none. */
  get previewedTimes(): readonly string[] {
    return this.isPreviewCurrent ? (this.preview.state.value?.next_times ?? []) : [];
  }

  /** The labels of the fields that an edit would change; empty for none, and for a new schedule. */
  get changedLabels(): string[] {
    const changed = this.record ? changedAttributes(this.record, this._state.values) : [];
    return labelsOf(this._options.trans, changed);
  }

  /** Save the notebook and read its cells. Also resolves after a failure, which the state reports. */
  async open(): Promise<void> {
    const saved = this._save(); // a note's forms are those of the saved one
    await Promise.all([saved, this._readNotebook(), saved.then(() => this._readService())]);
  }

  /** Set values. */
  set(values: Partial<IFormValues>): void {
    const before = this._state.values;
    const touched = touchedBy(before, values);
    const resized = resizedBy(before, values).map(list => `${list}.`);
    this._forget(key => touched.includes(key) || resized.some(list => key.startsWith(list)));
    touched.forEach(key => this._touched.add(key));
    this._become({ values: { ...before, ...values }, failure: null });
    this._check();
    void this._typed.invoke();
  }

  /** Save, then create or change the schedule, once; return its record, or null after a failure. */
  async submit(): Promise<IScheduleRecord | null> {
    const { calls } = this._options;
    const record = await this._attempt(() => {
      const { values } = this._state;
      return this.record
        ? this._edit(this.record, changesOf(this.record, values))
        : calls.create(this.source.path, bodyOf(values));
    });
    this._isDone ||= record !== null;
    return record;
  }

  /** Save, then run the notebook once with these values; return the command, or null after a failure. */
  async runOnce(): Promise<ICommand | null> {
    const { calls } = this._options;
    return this._attempt(() => {
      const body = bodyOf(this._state.values);
      return this.record
        ? this._runStored(this.record, body)
        : calls.runNotebook(this.source.path, body);
    });
  }

  /** Discard the input. */
  discard(): Promise<void> {
    this._isDone = true;
    return this._options.drafts.forget();
  }

  dispose(): void {
    if (!this._isDisposed) {
      this._isDisposed = true;
      this._typed.dispose();
      this.preview.dispose();
      Signal.clearData(this);
    }
  }

  private async _edit(record: IScheduleRecord, changes: IScheduleBody): Promise<IScheduleRecord> {
    const body = changes.command ? await this._onItsCopy(record, changes) : changes;
    return this._options.calls.edit(record.id, body);
  }

  private async _runStored(record: IScheduleRecord, body: IScheduleBody): Promise<ICommand> {
    const whole = { ...body, command: { ...record.command, ...body.command } };
    return this._options.calls.runStored(record.id, await this._onItsCopy(record, whole));
  }

  /** Use the copy that a schedule runs now: it may have been updated since the form was opened. */
  private async _onItsCopy(record: IScheduleRecord, body: IScheduleBody): Promise<IScheduleBody> {
    const { path } = (await this._options.calls.one(record.id)).command;
    return { ...body, command: { ...body.command, ...(path !== undefined && { path }) } };
  }

  private async _attempt<T>(step: () => Promise<T>): Promise<T | null> {
    if (this._state.isWorking || this._isDone) {
      return null;
    }
    this._isSent = true;
    this._refused = {};
    this._check();
    if (Object.keys(this._ownProblems()).length > 0) {
      this._refuse();
      return null;
    }
    this._become({ isWorking: true, failure: null });
    try {
      if (!(await this._save())) {
        return null;
      }
      const result = await step();
      return result;
    } catch (reason) {
      this._fail(asServiceError(reason));
      return null;
    } finally {
      this._become({ isWorking: false });
    }
  }

  private _fail(error: ServiceError): void {
    if (error.status !== INVALID) {
      this._become({ failure: this._words(error) });
      return;
    }
    this._refused = problemsIn(this._options.trans, error, this._state.values);
    this._check();
    this._refuse();
  }

  private _refuse(): void {
    const { problems, refusals } = this._state;
    const isMarked = Object.keys(problems).some(key => key !== 'form');
    const fix = isMarked ? this._options.trans.__('Fix the marked fields.') : '';
    const failure = [problems.form, fix].filter(Boolean).join(' ');
    this._become({ failure, refusals: refusals + 1 });
  }

  private _forget(isOld: (key: ProblemKey) => boolean): void {
    [...this._touched].filter(isOld).forEach(key => this._touched.delete(key));
    const refused = Object.entries(this._refused) as [ProblemKey, string][];
    this._refused = Object.fromEntries(refused.filter(([key]) => !isOld(key)));
  }

  private _words(error: ServiceError): string {
    const { trans } = this._options;
    if (error.isUnreachable) {
      return trans.__(
        '%1. What you typed is kept; try again when the service is back.',
        error.message.replace(/\.$/, '')
      );
    }
    return error.status === TOO_LARGE
      ? trans.__(
          '%1 is too large for the service: %2. Clear its outputs, save it, and try again.',
          this.source.name,
          error.message
        )
      : error.message;
  }

  private async _save(): Promise<boolean> {
    this._become({ saving: 'saving' });
    try {
      this._become({ saving: await this.source.save() });
      return true;
    } catch (reason) {
      const problem = asServiceError(reason).message;
      this._become({ saving: { problem }, failure: problem });
      return false;
    }
  }

  private async _readNotebook(): Promise<void> {
    let notebook: IReadNotebook;
    try {
      notebook = await this.source.read();
      if (this._isNote()) {
        return;
      }
      this._become({ warnings: warningCells(notebook.cells) });
    } catch (reason) {
      this._become({ saving: { problem: asServiceError(reason).message } });
      return;
    }
    try {
      const declaring = declaringPart(notebook);
      const { parameters, problem } =
        declaring.cells.length === 0
          ? { parameters: [], problem: null }
          : await this._options.calls.parameters(declaring);
      if (!this._isNote()) {
        this._become({ unreadable: problem });
        this._declare(parameters.map(parameterOf));
      }
    } catch (reason) {
      this._become({ unreadable: asServiceError(reason).message });
    }
  }

  private _isNote(): boolean {
    return this._state.note !== null;
  }

  private _declare(declared: IParameter[]): void {
    const typed = withDeclared(this._state.values.parameters, declared);
    const known = new Set(typed.map(one => one.name));
    const found = declared.filter(one => !known.has(one.name));
    this._become({ values: { ...this._state.values, parameters: [...typed, ...found] } });
  }

  /** Read which schedules the notebook has already, and whether it is a note: its forms are the parameters then. */
  private async _readService(): Promise<void> {
    try {
      const { schedules, note } = this.record
        ? { schedules: [], note: this._state.note }
        : await this._options.calls.ofNotebook(this.source.path);
      this._become({ others: schedules });
      if (note) {
        this._become({ note, warnings: [], unreadable: null });
        this._declare(parametersOfForms(note.forms ?? []));
      }
    } catch (reason) {
      // The preview calls the same service, and reports its failure.
      if (!asServiceError(reason).isUnreachable) {
        this._become({ others: [] });
      }
    }
  }

  private async _ask(signal: AbortSignal): Promise<ISchedulePreview> {
    const { values } = this._state;
    const rows = completeRows(values);
    this._previewedRows = rows;
    const body = bodyOf({
      ...values,
      files: values.files.filter((_, number) => rows.files.includes(number)),
      tables: values.tables.filter((_, number) => rows.tables.includes(number))
    });
    delete body.command;
    const preview = await this._options.calls.preview(body, signal);
    this._previewedKey = timetableKey(values);
    return preview;
  }

  private async _afterTyping(): Promise<void> {
    if (this._isDisposed || this._isDone) {
      return;
    }
    if (this.preview.isWatched) {
      void this.preview.refresh();
    }
    await this._options.drafts.save({ values: this._state.values, record: this.record });
  }

  private _onPreview(): void {
    if (!this.preview.state.isLoading) {
      this._check();
    }
  }

  /** Show the known problems of touched fields: the form's own, and those of the service's answers. */
  private _check(): void {
    const { trans } = this._options;
    const { error } = this.preview.state;
    const previewed =
      error?.status === INVALID
        ? problemsIn(trans, error, this._state.values, this._previewedRows)
        : {};
    const all: Problems = {
      ...this._refused,
      ...previewed,
      ...this._ownProblems()
    };
    const shown = (Object.entries(all) as [ProblemKey, string][]).filter(
      ([key]) => this._isSent || this._touched.has(key) || this._isPartOfTouched(key)
    );
    this._become({ problems: Object.fromEntries(shown) });
  }

  private _ownProblems(): Problems {
    const { note, values } = this._state;
    const { trans } = this._options;
    const isWithout = note?.cluster_id === null && values.label === '';
    const isCleared = this.record !== null && values.timing === 'interval' && isFromNow(values);
    const isForeign = note !== null && note.note_type !== 'spark';
    return {
      ...ownProblems(trans, values),
      ...(isCleared && { at: trans.__('Enter a time of day, for example 09:00') }),
      ...(isWithout && { label: trans.__('Choose the cluster that runs the note') }),
      ...(isForeign && { form: trans.__('A Presto note cannot be scheduled.') })
    };
  }

  /** A problem of a list as a whole counts as touched with any of its rows. */
  private _isPartOfTouched(key: ProblemKey): boolean {
    return [...this._touched].some(touched => touched.startsWith(`${key}.`));
  }

  private _become(state: Partial<IFormState>): void {
    if (!this._isDisposed) {
      this._state = { ...this._state, ...state };
      this._changed.emit();
    }
  }

  private readonly _changed = new Signal<this, void>(this);
  private readonly _options: IFormOptions;
  private readonly _typed: Debouncer;
  private _state: IFormState;
  private _previewedKey = '';
  private _previewedRows: ISentRows = { files: [], tables: [] };
  private readonly _touched = new Set<ProblemKey>();
  private _refused: Problems = {};
  private _isSent = false;
  private _isDisposed = false;
  private _isDone = false;
}

function timetableKey(values: IFormValues): string {
  return JSON.stringify([timetableOf(values), values.timeZone]);
}
