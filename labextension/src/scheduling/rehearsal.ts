import { StateDB } from '@jupyterlab/statedb';
import { Widget } from '@lumino/widgets';
import { flushSync } from 'react-dom';
import { nextHour, ownZone } from '../schedules/times';
import { DraftStore } from './drafts';
import { ScheduleFormModel } from './formModel';
import { newValues } from './formValues';
import { type IFormContext, scheduleFormWidget } from './formWidget';
import type { INotebookSource } from './notebookSource';

/** The notebook of a form that nobody fills in. */
const NO_NOTEBOOK: INotebookSource = {
  path: '',
  name: '',
  isUntitled: false,
  save: () => Promise.resolve('before'),
  cells: () => Promise.resolve([])
};

/**
 * Draw a form once where nobody sees it, and take it away in the same task, before anything is painted.
 *
 * The browser compiles code as it runs first, and makes styles as elements first want them: in the first form of a page
 * that took as long as drawing it. Nothing is asked of the service, and nothing is kept.
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
