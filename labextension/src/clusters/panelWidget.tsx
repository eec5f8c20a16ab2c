import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import { clusterIcon } from '../icons';
import { VisibleView } from '../panel';
import type { ClusterCalls } from './calls';
import { ClusterDetail } from './detail';
import { ClusterModel } from './model';

/** A cluster's detail in the main area. */
export type ClusterWidget = MainAreaWidget<VisibleView>;

/** Return the widget of a cluster's detail; its model ends with it. */
export function clusterWidget(
  calls: ClusterCalls,
  trans: TranslationBundle,
  cluster: number,
  name: string
): ClusterWidget {
  const model = new ClusterModel(cluster, calls, trans);
  const content = new VisibleView(() => (
    <UseSignal signal={model.changed}>
      {() => <ClusterDetail model={model} trans={trans} />}
    </UseSignal>
  ));
  const widget = new MainAreaWidget({ content });
  widget.title.label = name;
  widget.title.caption = trans.__('Cluster %1', name);
  widget.title.icon = clusterIcon;
  widget.title.closable = true;
  widget.disposed.connect(() => model.dispose());
  return widget;
}
