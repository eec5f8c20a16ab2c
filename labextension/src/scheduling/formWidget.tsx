import { Notification } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import type { Message } from '@lumino/messaging';
import type { Widget } from '@lumino/widgets';
import type { JSX } from 'react';
import { scheduleIcon } from '../icons';
import { VisibleView } from '../panel';
import { tellOfCommand } from '../schedules/performer';
import { type ISvcSchedules, ScheduleCommands } from '../schedules/tokens';
import { Resource, type ServiceRequests, VisibleContext } from '../service';
import type { IClusterList, IClusterRecord } from '../service/records/clusters';
import type { INotificationChannel } from '../service/records/schedules';
import { comingText } from './coming';
import { afterPaint, PaintedContext } from './painting';
import type { ScheduleFormModel } from './formModel';
import { type IFormSteps, ScheduleFormView } from './formView';

const CLUSTERS_INTERVAL = 30_000;
const CHANNELS_INTERVAL = 300_000;

/** The dependencies of a form besides its model. */
export interface IFormContext {
  requests: ServiceRequests;
  schedules: ISvcSchedules;
  commands: CommandRegistry;
  trans: TranslationBundle;
  /** Rename the notebook. */
  rename: () => void;
}

/**
 * A tab of the main area that is disposed on close and takes the focus when shown, like a `MainAreaWidget`; that
 * widget's toolbar, even empty, would cause another layout before the form is visible.
 */
class FormTab extends VisibleView {
  private _isPainted = false;

  /** Return the form; the first paint omits what can wait and makes no calls. */
  protected override content(): JSX.Element {
    return (
      <PaintedContext.Provider value={this._isPainted}>
        <VisibleContext.Provider value={this.isVisible && this._isPainted}>
          {super.content()}
        </VisibleContext.Provider>
      </PaintedContext.Provider>
    );
  }

  protected override onAfterAttach(message: Message): void {
    super.onAfterAttach(message);
    afterPaint(() => {
      if (!this.isDisposed) {
        this._isPainted = true;
        this.update();
      }
    });
  }

  protected override onActivateRequest(message: Message): void {
    super.onActivateRequest(message);
    if (!this.node.contains(document.activeElement)) {
      this.node.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    }
  }

  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    this.dispose();
  }
}

/** Return the form as a tab of the main area. Closing it discards the input; a reload of the page does not. */
export function scheduleFormWidget(model: ScheduleFormModel, context: IFormContext): Widget {
  const { requests, schedules, commands, trans } = context;
  const clusters = new Resource<IClusterRecord[]>({
    name: 'schedule-form-clusters',
    fetch: async signal =>
      (await requests.get<IClusterList>('clusters', { per_page: 100 }, signal)).clusters,
    interval: CLUSTERS_INTERVAL
  });
  const channels = new Resource<INotificationChannel[]>({
    name: 'schedule-form-channels',
    fetch: () => schedules.calls.channels(),
    interval: CHANNELS_INTERVAL
  });
  const steps: IFormSteps = {
    submit: () => void submit(model, context, () => widget.dispose()),
    runOnce: () => void runOnce(model, context),
    cancel: () => widget.dispose(),
    edit: other => {
      void commands.execute(ScheduleCommands.schedule, { schedule: other.id });
      widget.dispose();
    },
    rename: context.rename
  };
  const widget = new FormTab(() => (
    <ScheduleFormView model={model} steps={steps} choices={{ clusters, channels }} trans={trans} />
  ));
  widget.addClass('jp-SvcForm-widget');
  widget.node.tabIndex = -1; // a press beside the fields makes it the current tab
  widget.title.label = model.record
    ? trans.__('Edit schedule %1', model.record.name)
    : trans.__('Schedule %1', model.source.name);
  widget.title.icon = scheduleIcon;
  widget.title.closable = true;
  widget.disposed.connect(() => {
    void model.discard();
    clusters.dispose();
    channels.dispose();
    model.dispose();
  });
  return widget;
}

async function submit(
  model: ScheduleFormModel,
  { schedules, commands, trans }: IFormContext,
  close: () => void
): Promise<void> {
  const record = await model.submit();
  if (record === null) {
    return;
  }
  schedules.show(record);
  const next = comingText(trans, record, model.previewedTimes, new Date());
  const said = model.record
    ? trans.__('Schedule %1 is changed: %2.', record.name, next)
    : trans.__('%1 is scheduled: %2.', record.name, next);
  const callback = (): void => void commands.execute(ScheduleCommands.open, { id: record.id });
  Notification.success(said, {
    actions: [{ label: trans.__('Show it'), callback }],
    autoClose: 8_000
  });
  // Notify first: the layout after closing and the lists take longer than the message.
  afterPaint(() => {
    close();
    if (model.record === null) {
      void schedules.ofNotebooks.refresh(model.source.path);
    }
    schedules.changed();
  });
}

async function runOnce(
  model: ScheduleFormModel,
  { schedules, commands, trans }: IFormContext
): Promise<void> {
  const command = await model.runOnce();
  if (command) {
    tellOfCommand(command, commands, trans);
    schedules.changed();
  }
}
