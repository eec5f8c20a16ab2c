import type { JupyterFrontEnd } from '@jupyterlab/application';
import { NotebookActions, type INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Panel } from '@lumino/widgets';
import type { JSX } from 'react';
import { VisibleView } from '../panel';
import type { Resource, ServiceRequests } from '../service';
import { FormBar } from './formBar';
import type { NoteCopy } from './noteCopies';
import { type ISparkCluster, sparkClusters } from './sparkClusters';
import { SparkNotebook } from './sparkNotebook';
import { ClusterItem, type IItemProps, JobItem, SavedItem } from './toolbar';

/** What the open notebooks share. */
export interface IOpenedParts {
  app: JupyterFrontEnd;
  notebooks: INotebookTracker;
  requests: ServiceRequests;
  trans: TranslationBundle;
  copyOf: (context: NotebookPanel['context']) => NoteCopy;
}

/** The items of a notebook's toolbar. */
export type ItemName = 'saved' | 'job' | 'cluster';

/** Each item, and whether a notebook has it. */
const ITEMS: Readonly<
  Record<ItemName, [(props: IItemProps) => JSX.Element, (notebook: SparkNotebook) => boolean]>
> = {
  saved: [SavedItem, notebook => notebook.noteId !== null],
  job: [JobItem, notebook => notebook.isSpark || notebook.noteId !== null],
  cluster: [ClusterItem, notebook => notebook.isSpark]
};

/** The open notebooks, each with its fields above the cells. */
export class OpenedNotebooks {
  private readonly _clusters: Resource<ISparkCluster[]>;
  private readonly _byContext = new Map<NotebookPanel['context'], SparkNotebook>();

  constructor(private readonly _parts: IOpenedParts) {
    this._clusters = sparkClusters(_parts.requests);
    const { notebooks } = _parts;
    notebooks.forEach(panel => this._addFields(panel));
    notebooks.widgetAdded.connect((_, panel) => this._addFields(panel));
    NotebookActions.executionScheduled.connect((_, { notebook }) => {
      const panel = notebooks.find(one => one.content === notebook);
      if (panel) {
        this.of(panel).beforeCell();
      }
    });
  }

  /** Return the model of a notebook; several tabs of one notebook share it. */
  of({ context }: NotebookPanel): SparkNotebook {
    let found = this._byContext.get(context);
    if (!found) {
      const { app, requests, copyOf } = this._parts;
      const path = (): string => app.serviceManager.contents.localPath(context.path);
      const made = new SparkNotebook(context, {
        requests,
        clusters: this._clusters,
        copy: copyOf(context),
        path
      });
      context.disposed.connect(() => {
        this._byContext.delete(context);
        made.dispose();
      });
      this._byContext.set(context, made);
      found = made;
    }
    return found;
  }

  /** Read again which version of its note is saved. */
  refresh(context: NotebookPanel['context']): void {
    void this._byContext.get(context)?.note.refresh();
  }

  /** Put an item of a notebook's toolbar into its place, which is hidden where the notebook has none. */
  fill(place: Panel, panel: NotebookPanel, name: ItemName): void {
    const notebook = this.of(panel);
    const [Item, applies] = ITEMS[name];
    const { app, trans } = this._parts;
    place.addWidget(
      new VisibleView(() => <Item notebook={notebook} trans={trans} commands={app.commands} />)
    );
    const show = (): void => place.setHidden(!applies(notebook));
    notebook.changed.connect(show);
    place.disposed.connect(() => notebook.changed.disconnect(show));
    show();
  }

  private _addFields(panel: NotebookPanel): void {
    const notebook = this.of(panel);
    const run = (): void =>
      void NotebookActions.runAll(panel.content, panel.sessionContext).catch(() => undefined);
    const bar = new VisibleView(() => (
      <FormBar notebook={notebook} trans={this._parts.trans} run={run} />
    ));
    bar.addClass('jp-SvcNote-bar');
    // The layout of a panel gives each part the least height that it asks for.
    const observer = new ResizeObserver(() => {
      const height = bar.node.firstElementChild?.getBoundingClientRect().height ?? 0;
      const wanted = `${Math.ceil(height)}px`;
      if (bar.node.style.minHeight !== wanted) {
        bar.node.style.minHeight = wanted;
        bar.parent?.fit();
      }
    });
    const follow = new MutationObserver(() => {
      observer.disconnect();
      observer.observe(bar.node);
      if (bar.node.firstElementChild) {
        observer.observe(bar.node.firstElementChild);
      }
    });
    follow.observe(bar.node, { childList: true });
    bar.disposed.connect(() => {
      observer.disconnect();
      follow.disconnect();
    });
    panel.contentHeader.addWidget(bar);
  }
}
