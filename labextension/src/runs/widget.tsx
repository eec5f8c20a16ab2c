import { MainAreaWidget } from '@jupyterlab/apputils';
import type { Widget } from '@lumino/widgets';
import { runsIcon } from '../icons';
import { VisibleView } from '../panel';
import type { ISvcSchedules } from '../schedules/tokens';
import { RunsModel } from './model';
import { type IRunsPageProps, RunsPage } from './page';

/** Return the page Runs for the main area; it is read while it is visible. */
export function runsWidget(
  { calls, all }: ISvcSchedules,
  props: Omit<IRunsPageProps, 'model' | 'schedules'>
): MainAreaWidget {
  const model = new RunsModel(calls);
  const content = new VisibleView(() => <RunsPage {...props} model={model} schedules={all} />);
  content.addClass('jp-SvcDetail-widget');
  const widget = new MainAreaWidget<Widget>({ content });
  widget.toolbar.hide(); // it would be an empty strip
  widget.title.label = props.trans.__('Runs');
  widget.title.icon = runsIcon;
  widget.title.closable = true;
  widget.disposed.connect(() => model.dispose());
  return widget;
}
