import { type ICellModel, isCodeCellModel } from '@jupyterlab/cells';
import { PathExt } from '@jupyterlab/coreutils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { INotebookContent, INotebookMetadata } from '@jupyterlab/nbformat';
import { NotebookPanel } from '@jupyterlab/notebook';
import type { Contents } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { ISvcNotes } from '../notes/tokens';
import type { INote } from '../service/records/notes';
import type { IExecutedCell } from './shownWarnings';

/** Drives with paths of this server: the default one, and the one of collaborative documents. */
const OWN_DRIVES: readonly string[] = ['', 'RTC'];
const UNTITLED = /^untitled\d*\.ipynb$/i;

/** The result of saving: written now, or already stored. */
export type Saved = 'now' | 'before';

/** The notebook cannot be scheduled in its current state; the message says what to do. */
export class NotSaved extends Error {}

/** What a form reads of a notebook. */
export interface IReadNotebook {
  cells: IExecutedCell[];
  metadata: Partial<INotebookMetadata>;
}

/** The notebook of a form, open in this page or not. */
export interface INotebookSource {
  /** Its path on the Jupyter server. */
  readonly path: string;
  /** Its file name. */
  readonly name: string;
  /** Whether it has no name yet. */
  readonly isUntitled: boolean;
  /** The note that runs instead of it; absent while only the Jupyter server knows. */
  readonly note?: INote;
  /** Save unsaved changes. Rejects with `NotSaved`. */
  save(): Promise<Saved>;
  /** Return its content, from the saved file if it is not open. Rejects when there is none. */
  read(): Promise<IReadNotebook>;
  /** Open it at a cell, counted from 1; absent when it cannot be opened here. */
  showCell?(number: number): Promise<void>;
}

/** A notebook of JupyterLab's file browser. */
export class NotebookSource implements INotebookSource {
  constructor(
    private readonly _documents: IDocumentManager,
    private readonly _contents: Contents.IManager,
    private readonly _notes: ISvcNotes | null,
    private readonly _trans: TranslationBundle,
    /** Its path including the drive. */
    readonly fullPath: string
  ) {
    this.path = _contents.localPath(fullPath);
    this.name = PathExt.basename(this.path);
  }

  readonly path: string;
  readonly name: string;

  get isUntitled(): boolean {
    return UNTITLED.test(this.name);
  }

  async save(): Promise<Saved> {
    const drive = this._contents.driveName(this.fullPath);
    if (!OWN_DRIVES.includes(drive)) {
      throw new NotSaved(
        this._trans.__(
          '%1 is on the drive %2. Save a copy of it on this Jupyter server, and schedule that.',
          this.name,
          drive
        )
      );
    }
    const context = this._panel?.context;
    if (!context) {
      return 'before';
    }
    await context.ready;
    const saved = await this._saveFile(context);
    if (await this._notes?.isRefused(context)) {
      throw new NotSaved(
        this._trans.__(
          '%1 is saved here, but not as the note that runs. Save it again, and see the message about it.',
          this.name
        )
      );
    }
    return saved;
  }

  private async _saveFile(context: NotebookPanel['context']): Promise<Saved> {
    if (!context.model.dirty) {
      return 'before';
    }
    if (context.contentsModel?.writable === false) {
      throw new NotSaved(
        this._trans.__(
          '%1 is read-only, and what was changed in it cannot be saved. Save it under another name, and schedule that.',
          this.name
        )
      );
    }
    try {
      await context.save();
    } catch (reason) {
      const why = reason instanceof Error ? reason.message : String(reason);
      throw new NotSaved(
        this._trans.__('%1 could not be saved: %2. Nothing was scheduled.', this.name, why)
      );
    }
    return 'now';
  }

  async read(): Promise<IReadNotebook> {
    const panel = this._panel;
    if (!panel) {
      const stored = await this._contents.get(this.fullPath, { type: 'notebook', content: true });
      return stored.content as INotebookContent;
    }
    await panel.context.ready;
    const { cells, metadata } = panel.context.model;
    return { cells: Array.from(cells, cellOf), metadata };
  }

  async showCell(number: number): Promise<void> {
    const panel = this._documents.openOrReveal(this.fullPath);
    if (panel instanceof NotebookPanel) {
      await panel.revealed;
      panel.content.activeCellIndex = number - 1;
      await panel.content.scrollToItem(number - 1, 'center');
      panel.content.activate();
    }
  }

  private get _panel(): NotebookPanel | null {
    const widget = this._documents.findWidget(this.fullPath);
    return widget instanceof NotebookPanel ? widget : null;
  }
}

/** Return the used part of a cell; of its outputs, texts and errors: others may be long. */
function cellOf(model: ICellModel): IExecutedCell {
  const tags: unknown = model.getMetadata('tags');
  const outputs = isCodeCellModel(model)
    ? Array.from({ length: model.outputs.length }, (_, index) => model.outputs.get(index))
        .filter(output => output.type === 'stream' || output.type === 'error')
        .map(output => output.toJSON())
    : [];
  return {
    cell_type: model.type,
    source: model.sharedModel.getSource(),
    metadata: { tags },
    outputs
  };
}
