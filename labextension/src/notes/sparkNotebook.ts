import type { Cell } from '@jupyterlab/cells';
import type { NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import { Debouncer } from '@lumino/polling';
import { type ISignal, Signal } from '@lumino/signaling';
import { asServiceError, pathOf, Resource, type ServiceRequests } from '../service';
import type { ICommand } from '../service/records/commands';
import type { INoteForm, INoteState } from '../service/records/notes';
import { type FormValue, FormValues } from './formValues';
import { type IFromKernel, type IToKernel, KernelLink } from './kernelLink';
import { type NoteCopy, noteOf } from './noteCopies';
import type { ISparkCluster } from './sparkClusters';

/** How often a visible note asks whether somebody else has saved it, in milliseconds. */
const NOTE_INTERVAL = 10_000;
/** How long a text is left alone before its forms are read, in milliseconds. */
const TYPING = 500;
/** Metadata of cells for what only a note has, such as the stored values of forms. */
const OF_NOTES = 'svc_note';
/** What JupyterLab writes into each notebook by itself when its kernel starts: no edit of the note. */
const OF_KERNEL: readonly string[] = ['kernelspec', 'language_info'];
const NO_FORMS: readonly number[] = [404, 405];

/** What a notebook needs. */
export interface INotebookParts {
  requests: ServiceRequests;
  clusters: Resource<ISparkCluster[]>;
  copy: NoteCopy;
  /** Returns the notebook's path on the Jupyter server. */
  path: () => string;
}

/** A notebook of the kernel Spark (svc), or a note: its cluster, its forms, its version, its jobs. */
export class SparkNotebook implements IDisposable {
  private readonly _changed = new Signal<this, void>(this);
  private readonly _link: KernelLink;
  private readonly _reading: Debouncer;
  private _values = new FormValues();
  private _formsProblem: string | null = null;
  private _chosen: string | null = null;
  private _chosenAt = 0;
  private _isChoiceSaid = false;
  private _reported: string | null = null;
  private _isSubmitting = false;
  private _reads = 0;
  private _asked = '';
  private _isEdited = false;
  private _isOfKernel = false;

  constructor(
    readonly context: NotebookPanel['context'],
    private readonly _parts: INotebookParts
  ) {
    this._link = new KernelLink(context.sessionContext);
    this._link.renewed.connect(this._onRenewed, this);
    this._link.told.connect(this._onTold, this);
    this._reading = new Debouncer(() => this._readForms(), TYPING);
    this.clusters = _parts.clusters;
    this.note = new Resource<INoteState | null>({
      name: 'open-note',
      interval: NOTE_INTERVAL,
      fetch: signal => this._readNote(signal)
    });
    for (const resource of [this.note, this.clusters]) {
      (resource as Resource<unknown>).changed.connect(this._tell, this);
    }
    context.model.contentChanged.connect(this._onContent, this);
    context.model.metadataChanged.connect((_, { key }) => {
      this._isOfKernel = OF_KERNEL.includes(key);
    });
    context.model.stateChanged.connect(this._onState, this);
    void context.ready.then(() => {
      this._isEdited = false;
      return this._readForms();
    });
  }

  /** The Spark clusters. */
  readonly clusters: Resource<ISparkCluster[]>;
  /** The note as the service has it; null for a notebook that is no note. */
  readonly note: Resource<INoteState | null>;

  /** Emitted after each change. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Whether its cells run in a session on a cluster. */
  get isSpark(): boolean {
    return this._link.isSpark;
  }

  /** The id of its note, or null. */
  get noteId(): number | null {
    return noteOf(this.context.model);
  }

  /** Whether the page shows what is not saved. */
  get isDirty(): boolean {
    return this.context.model.dirty && this._isEdited;
  }

  /** The forms and the values of their fields. */
  get values(): FormValues {
    return this._values;
  }

  /** Why the forms of the text are not known, or null. */
  get formsProblem(): string | null {
    return this._formsProblem;
  }

  /** The name of the cluster that runs the next cell; null when only the kernel knows. */
  get cluster(): string | null {
    const known = this.clusters.state.value ?? [];
    const bound = known.find(({ id }) => id === this.note.state.value?.cluster_id);
    const only = known.length === 1 ? known[0] : undefined;
    return this._chosen ?? this._reported ?? (bound ?? only)?.name ?? null;
  }

  /** Whether a job is being submitted. */
  get isSubmitting(): boolean {
    return this._isSubmitting;
  }

  get isDisposed(): boolean {
    return this._link.isDisposed;
  }

  dispose(): void {
    if (!this.isDisposed) {
      this._link.dispose();
      this._reading.dispose();
      this.note.dispose();
      this.clusters.changed.disconnect(this._tell, this);
      Signal.clearData(this);
    }
  }

  /** Set the value of a form, for the next cells and jobs. */
  set(name: string, value: FormValue): void {
    this._values = this._values.with(name, value);
    this._tell();
  }

  /** Tell the kernel what the next cell needs. To be called just before a cell is sent. */
  beforeCell(): void {
    const message: IToKernel = {};
    if (this._values.forms.length > 0) {
      message.forms = this._values.given;
      message.passwords = this._values.passwords;
    }
    if (this._chosen !== null && !this._isChoiceSaid) {
      message.cluster = this._chosen;
    }
    if (Object.keys(message).length > 0 && this._link.say(message) && message.cluster) {
      this._isChoiceSaid = true;
    }
  }

  /**
   * Run the next cells on another cluster, in a new session, and bind the note to it.
   *
   * Rejects with `ServiceError` when the note is not bound; the kernel's cells run on the cluster anyway.
   */
  async choose(cluster: ISparkCluster): Promise<void> {
    this._chosen = cluster.name;
    this._chosenAt = Date.now();
    this._isChoiceSaid = this._link.say({ cluster: cluster.name });
    this._tell();
    if (this.noteId !== null) {
      const body = { path: this._parts.path(), cluster_id: cluster.id };
      await this._parts.requests.put(pathOf('notes', this.noteId, 'cluster'), body);
      await this.note.refresh();
    }
  }

  /**
   * Save the note and submit a run of it with the values of the forms. Return the command, or null when the note could
   * not be saved, which is shown already. Rejects with `ServiceError`.
   */
  async submit(): Promise<ICommand | null> {
    const note = this.noteId;
    if (note === null || this._isSubmitting) {
      return null;
    }
    this._isSubmitting = true;
    this._tell();
    try {
      if (!(await this._save())) {
        return null;
      }
      const bound = this.note.state.value?.cluster_id ?? null;
      const target = this.clusters.state.value?.find(({ name }) => name === this.cluster);
      return await this._parts.requests.post<ICommand>('commands', {
        command_type: 'SparkCommand',
        note_id: note,
        language: 'notebook',
        arguments: this._values.given,
        ...(target && target.id !== bound && { label: target.name })
      });
    } finally {
      this._isSubmitting = false;
      this._tell();
    }
  }

  /** Save the notebook and its note; return whether the service has what the page shows. */
  private async _save(): Promise<boolean> {
    const { state } = this.note;
    const copied = state.value?.copied ?? null;
    const isCurrent = copied !== null && copied === state.value?.version;
    if (isCurrent && !this.isDirty && !state.error) {
      return true;
    }
    await this.context.save();
    return !this.isDirty && this._parts.copy.settled;
  }

  private async _readNote(signal: AbortSignal): Promise<INoteState | null> {
    const id = this.noteId;
    if (id === null) {
      return null;
    }
    const query = { path: this._parts.path() };
    return this._parts.requests.get<INoteState>(pathOf('notes', id, 'document'), query, signal);
  }

  /** Read the forms of the text as it is now, saved or not. */
  private async _readForms(): Promise<void> {
    if (this.isDisposed || !this.isSpark) {
      return;
    }
    const cells = cellsOf(this.context.model.sharedModel.cells);
    const asked = JSON.stringify(cells);
    if (asked === this._asked && this._formsProblem === null) {
      return; // only outputs have changed
    }
    this._asked = asked;
    const read = (this._reads += 1);
    let forms: INoteForm[] = [];
    let problem: string | null = null;
    try {
      if (cells.length > 0) {
        const body = { cells };
        forms = (await this._parts.requests.post<{ forms: INoteForm[] }>('notes/forms', body))
          .forms;
      }
    } catch (reason) {
      const error = asServiceError(reason);
      // A service that reads no forms of a text still knows those of the saved note.
      forms = NO_FORMS.includes(error.status) ? await this._savedForms() : [...this._values.forms];
      problem = error.message;
    }
    if (read === this._reads) {
      this._values = this._values.on(forms);
      this._formsProblem = problem;
      this._tell();
    }
  }

  private async _savedForms(): Promise<INoteForm[]> {
    await this.note.refresh();
    return this.note.state.value?.forms ?? [];
  }

  private _onState(): void {
    this._isEdited &&= this.context.model.dirty;
    this._tell();
  }

  private _onContent(): void {
    const isEdit = !this._isOfKernel;
    this._isOfKernel = false;
    if (isEdit && !this._isEdited) {
      this._isEdited = true;
      this._tell();
    }
    void this._reading.invoke().catch(() => undefined); // disposed meanwhile
  }

  private _onRenewed(): void {
    this._isChoiceSaid = false;
    this._reported = null;
    void this._readForms();
    this._tell();
  }

  private _onTold(_: KernelLink, { cluster, forms, sent }: IFromKernel): void {
    if (cluster !== undefined && sent >= this._chosenAt) {
      this._reported = cluster;
      this._chosen = cluster === this._chosen ? cluster : null;
    }
    for (const [name, value] of Object.entries(forms ?? {})) {
      this._values = this._values.with(name, value);
    }
    this._tell();
  }

  private _tell(): void {
    if (!this.isDisposed) {
      this._changed.emit();
    }
  }
}

/** The part of a cell that its forms are in. */
type SharedCell = Pick<Cell['model']['sharedModel'], 'cell_type' | 'id' | 'source' | 'getMetadata'>;

/** Return the cells that may have forms, without their outputs. */
export function cellsOf(cells: readonly SharedCell[]): object[] {
  return cells
    .filter(cell => mayHaveForms(cell))
    .map(cell => ({
      cell_type: cell.cell_type,
      id: cell.id,
      source: cell.source,
      metadata: { [OF_NOTES]: cell.getMetadata(OF_NOTES) ?? {} },
      ...(cell.cell_type === 'code' && { outputs: [], execution_count: null })
    }));
}

/** Whether to ask the service about a cell: it has a placeholder, calls `z`, or has forms from an earlier run. */
function mayHaveForms(cell: SharedCell): boolean {
  const isText = cell.cell_type === 'code' || cell.cell_type === 'markdown';
  return isText && (/\$\{|\bz\s*\./.test(cell.source) || cell.getMetadata(OF_NOTES) !== undefined);
}
