import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { scheduleIcon } from '../icons';
import { VisibleView } from '../panel';
import type { ServiceRequests } from '../service';
import { ScheduleDetail } from './detail';
import { ScheduleDetailModel } from './detailModel';
import type { IDetailSteps } from './detailSteps';
import type { ISvcSchedules } from './tokens';

/** Return the detail of a schedule for the main area; it is read while it is visible, and after every step. */
export function scheduleWidget(
  { calls }: ISvcSchedules,
  requests: ServiceRequests,
  performer: Omit<IDetailSteps, 'menu'>,
  menu: IDetailSteps['menu'],
  trans: TranslationBundle,
  id: number
): MainAreaWidget {
  const model = new ScheduleDetailModel(calls, id);
  const after =
    <A extends unknown[]>(step: (...args: A) => Promise<void>) =>
    async (...args: A): Promise<void> => {
      await step(...args);
      await Promise.all([model.look.refresh(), model.copy.refresh()]);
    };
  const steps: IDetailSteps = {
    step: after((...args) => performer.step(...args)),
    rerun: after((...args) => performer.rerun(...args)),
    cancel: after((...args) => performer.cancel(...args)),
    openPage: (...args) => performer.openPage(...args),
    openCopy: (...args) => performer.openCopy(...args),
    compare: (...args) => performer.compare(...args),
    openCommand: (...args) => performer.openCommand(...args),
    updateCopy: after((...args) => performer.updateCopy(...args)),
    menu
  };
  const content = new VisibleView(() => (
    <ScheduleDetail model={model} requests={requests} steps={steps} trans={trans} />
  ));
  content.addClass('jp-SvcDetail-widget');
  const widget = new MainAreaWidget<Widget>({ content });
  widget.toolbar.hide(); // it would be an empty strip
  widget.title.label = trans.__('Schedule %1', id);
  widget.title.icon = scheduleIcon;
  widget.title.closable = true;
  model.look.changed.connect(() => {
    const name = model.look.state.value?.schedule.name;
    widget.title.label = trans.__('Schedule %1', name ?? id);
  });
  widget.disposed.connect(() => model.dispose());
  return widget;
}
