import type { DocumentRegistry } from '@jupyterlab/docregistry';
import type { INotebookTracker, NotebookPanel } from '@jupyterlab/notebook';
import type { IDisposable } from '@lumino/disposable';
import type { NotebookSchedules } from '../schedules/notebookSchedules';

/** Keep the schedules of the current notebook up to date, and read them again when a notebook was saved. */
export function watchNotebooks(
  notebooks: INotebookTracker,
  schedules: NotebookSchedules,
  localPath: (path: string) => string
): void {
  let watch: IDisposable | null = null;
  const follow = (): void => {
    watch?.dispose();
    const panel = notebooks.currentWidget;
    watch = panel ? schedules.watch(localPath(panel.context.path)) : null;
  };
  const onSaved = (context: DocumentRegistry.Context, state: DocumentRegistry.SaveState): void => {
    const path = localPath(context.path);
    if (state === 'completed' && schedules.of(path)?.schedules.length) {
      void schedules.refresh(path);
    }
  };
  const onAdded = (_: INotebookTracker, panel: NotebookPanel): void => {
    panel.context.saveState.connect(onSaved);
    panel.context.pathChanged.connect(follow);
    panel.disposed.connect(() => {
      const path = localPath(panel.context.path);
      if (!notebooks.find(other => other !== panel && other.context.path === panel.context.path)) {
        schedules.forget(path);
      }
    });
  };
  notebooks.widgetAdded.connect(onAdded);
  notebooks.currentChanged.connect(follow);
  notebooks.forEach(panel => onAdded(notebooks, panel));
  follow();
}
