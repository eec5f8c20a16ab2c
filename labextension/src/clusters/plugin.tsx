import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { WidgetTracker } from '@jupyterlab/apputils';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { lazy, Suspense } from 'react';
import { isConfirmed, ISvcPanel, viewArea, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, Resource, TRANSLATION_DOMAIN } from '../service';
import { ClusterCalls } from './calls';
import type { ClusterWidget } from './detail';
import { type IClusterLook, nameOf } from './view';

/** Opens the detail of a cluster: `{cluster: id, name?}`. */
export const OPEN_CLUSTER = 'svc-jupyter:open-cluster';

const RANK = 30;
const INTERVAL = 5_000;
const ClustersSection = lazy(async () => ({
  default: (await import('./section')).ClustersSection
}));

/** The section "Clusters" and the details of clusters in the main area. */
export const clustersPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:clusters`,
  description: 'Clusters: state, health, start, terminate, and their workers.',
  autoStart: true,
  requires: [ISvcService, ISvcPanel],
  optional: [ITranslator, ILayoutRestorer],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const calls = new ClusterCalls(service.requests);
    addDetails(app, calls, trans, restorer);
    addSection(app, panel, calls, trans);
  }
};

function addSection(
  app: JupyterFrontEnd,
  panel: ISvcPanel,
  calls: ClusterCalls,
  trans: TranslationBundle
): void {
  // eslint-disable-next-line jupyter/require-disposable-ownership -- as long as the application
  const clusters = new Resource<IClusterLook[]>({
    name: 'clusters',
    fetch: signal => calls.all(signal),
    interval: INTERVAL
  });
  const start = async ({ record }: IClusterLook): Promise<void> => {
    await calls.start(record.id);
    await clusters.refresh();
  };
  const terminate = async (look: IClusterLook): Promise<void> => {
    const { questionOf } = await import('./steps');
    const view = { ...look, asOf: clusters.state.asOf ?? new Date() };
    const question = questionOf(trans, { step: 'terminate', view, target: 0, node: null });
    if (await isConfirmed(trans, question)) {
      await calls.terminate(look.record.id);
      await clusters.refresh();
    }
  };
  const open = ({ record }: IClusterLook): void =>
    void app.commands.execute(OPEN_CLUSTER, { cluster: record.id, name: nameOf(record) });
  const parts = { trans, clusters, open, start, terminate };
  const widget = new VisibleView(() => (
    <Suspense>
      <ClustersSection {...parts} />
    </Suspense>
  ));
  const title = trans.__('Clusters');
  const section = panel.addSection({ id: 'clusters', title, rank: RANK, widget });
  clusters.changed.connect(() => {
    const { value: all = [], error } = clusters.state;
    const up = all.filter(({ state }) => state.state === 'UP').length;
    section.badge = all.length && !error ? trans.__('%1 of %2 up', up, all.length) : '';
  });
  panel.whileShown(() => clusters.watch());
}

function addDetails(
  app: JupyterFrontEnd,
  calls: ClusterCalls,
  trans: TranslationBundle,
  restorer: ILayoutRestorer | null
): void {
  const tracker = new WidgetTracker<ClusterWidget>({ namespace: 'svc-jupyter-clusters' });
  app.commands.addCommand(OPEN_CLUSTER, {
    label: trans.__('Open Cluster'),
    describedBy: {
      args: {
        type: 'object',
        properties: { cluster: { type: 'number' }, name: { type: 'string' } },
        required: ['cluster']
      }
    },
    execute: async ({ cluster, name }) => {
      const id = `svc-jupyter-cluster-${Number(cluster)}`;
      const { clusterWidget } = await import('./detail');
      let widget = tracker.find(known => known.id === id);
      if (!widget) {
        const title = typeof name === 'string' ? name : String(Number(cluster));
        widget = clusterWidget(calls, trans, Number(cluster), title);
        widget.id = id;
        app.shell.add(widget, viewArea(app), { type: 'Cluster' });
        void tracker.add(widget);
      }
      app.shell.activateById(id);
      return widget;
    }
  });
  void restorer?.restore(tracker, {
    command: OPEN_CLUSTER,
    args: ({ id, title }) => ({ cluster: Number(id.split('-').at(-1)), name: title.label }),
    name: ({ id }) => id
  });
}
