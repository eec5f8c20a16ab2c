import { StateDB } from '@jupyterlab/statedb';
import { Widget } from '@lumino/widgets';
import { flushSync } from 'react-dom';
import { nextHour, ownZone } from '../schedules/times';
import { DraftStore } from './drafts';
import { ScheduleFormModel } from './formModel';
import { newValues } from './formValues';
import { type IFormContext, scheduleFormWidget } from './formWidget';
import type { INotebookSource } from './notebookSource';

/** The notebook of a form that is never shown. */
const NO_NOTEBOOK: INotebookSource = {
  path: '',
  name: '',
  isUntitled: false,
  save: () => Promise.resolve('before'),
  read: () => Promise.resolve({ cells: [], metadata: {} })
};

/**
 * Render a form once off-screen and remove it in the same task, before anything is painted.
 *
 * The browser compiles code when it first runs, and computes styles when they are first needed: in a page's first form
 * this took as long as rendering it. Nothing is requested from the service, and nothing is stored.
 */
export function rehearseForm(context: IFormContext): void {
  const zone = ownZone();
  const model = new ScheduleFormModel({
    source: NO_NOTEBOOK,
    calls: context.schedules.calls,
    drafts: new DraftStore(new StateDB(), '', null),
    trans: context.trans,
    values: newValues('', zone, nextHour(new Date(), zone), [])
  });
  const widget = scheduleFormWidget(model, context);
  const stage = document.createElement('div');
  stage.className = 'jp-SvcForm-rehearsal';
  stage.inert = true;
  document.body.append(stage);
  try {
    flushSync(() => Widget.attach(widget, stage));
    stage.getBoundingClientRect();
  } finally {
    widget.dispose();
    stage.remove();
  }
}
