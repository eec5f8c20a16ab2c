import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { WidgetTracker } from '@jupyterlab/apputils';
import type { IDocumentManager } from '@jupyterlab/docmanager';
import type { IStateDB } from '@jupyterlab/statedb';
import type { TranslationBundle } from '@jupyterlab/translation';
import { flushSync } from 'react-dom';
import { viewArea } from '../panel';
import { nextHour } from '../schedules/times';
import type { ISvcNotes } from '../notes/tokens';
import type { ISvcSchedules } from '../schedules/tokens';
import type { ServiceRequests } from '../service';
import { ownZone } from '../zones';
import { DraftStore } from './drafts';
import { valuesOf } from './formBody';
import { editFormId, newFormId } from './formIds';
import { type IFormOptions, ScheduleFormModel } from './formModel';
import { nameFrom, newValues } from './formValues';
import { scheduleFormWidget } from './formWidget';
import { NotebookSource } from './notebookSource';
import { afterPaint } from './painting';
import { placeOf } from './place';
import { NoteSource, StoredSource } from './storedSource';

/** The dependencies of opening a form. */
export interface IOpening {
  app: JupyterFrontEnd;
  documents: IDocumentManager;
  state: IStateDB;
  requests: ServiceRequests;
  schedules: ISvcSchedules;
  notes: ISvcNotes | null;
  trans: TranslationBundle;
  tracker: WidgetTracker;
}

/** Open the form for a new schedule of a notebook, beside the notebook if it is visible and there is room. */
export async function openNewForm(opening: IOpening, path: string): Promise<void> {
  const id = newFormId(path);
  if (reveal(opening, id)) {
    return;
  }
  const { app, documents, notes, schedules, state, trans } = opening;
  const { contents } = app.serviceManager;
  const source = new NotebookSource(documents, contents, notes, trans, path);
  const drafts = new DraftStore(state, path, null);
  const kept = await drafts.load();
  const zone = ownZone();
  const values =
    kept?.values ?? newValues(nameFrom(source.name), zone, nextHour(new Date(), zone), []);
  show(opening, id, path, { source, calls: schedules.calls, drafts, trans, values });
}

/** Open the form that edits a schedule. Rejects with `ServiceError` when it cannot be read. */
export async function openEditForm(opening: IOpening, schedule: number): Promise<void> {
  const id = editFormId(schedule);
  if (reveal(opening, id)) {
    return;
  }
  const { requests, schedules, state, trans } = opening;
  const drafts = new DraftStore(state, '', schedule);
  const kept = await drafts.load();
  const record = kept?.record ?? (await schedules.calls.one(schedule));
  const { note_id: note, path } = record.command;
  const source = note
    ? new NoteSource(await schedules.calls.note(note))
    : new StoredSource(requests, path ?? '', async () => {
        const now = kept?.record ? await schedules.calls.one(schedule) : record;
        return now.command.path ?? '';
      });
  const values = kept?.values ?? valuesOf(record, []);
  show(opening, id, null, { source, calls: schedules.calls, drafts, trans, values, record });
}

function reveal({ app, tracker }: IOpening, id: string): boolean {
  const known = tracker.find(widget => widget.id === id);
  if (known) {
    app.shell.activateById(id);
  }
  return known !== undefined;
}

function show(opening: IOpening, id: string, path: string | null, options: IFormOptions): void {
  const { app, documents, tracker } = opening;
  const notebook = path === null ? undefined : documents.findWidget(path);
  const rename = (): void => {
    if (notebook) {
      app.shell.activateById(notebook.id);
      void app.commands.execute('docmanager:rename');
    }
  };
  const model = new ScheduleFormModel(options);
  const widget = scheduleFormWidget(model, { ...opening, commands: app.commands, rename });
  widget.id = id;
  // Render the content synchronously, so that the page is laid out only once.
  flushSync(() => {
    app.shell.add(widget, viewArea(app), {
      type: 'Schedule Form',
      ...placeOf(notebook)
    });
  });
  void tracker.add(widget);
  // A change of the current tab makes all of Lab update: what is seen already takes the focus after it is painted.
  afterPaint(() => {
    if (!model.isDisposed) {
      app.shell.activateById(id);
      void model.open();
    }
  });
}
