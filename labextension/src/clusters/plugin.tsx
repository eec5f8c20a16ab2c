import {
  ILayoutRestorer,
  type JupyterFrontEnd,
  type JupyterFrontEndPlugin
} from '@jupyterlab/application';
import { ICommandPalette, InputDialog, WidgetTracker } from '@jupyterlab/apputils';
import { ILauncher } from '@jupyterlab/launcher';
import { ITranslator, nullTranslator, type TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import { clusterIcon } from '../icons';
import { notify, notifyError } from '../notices';
import { isConfirmed, ISvcPanel, Loaded, VisibleView } from '../panel';
import { EXTENSION_ID, ISvcService, Resource, TRANSLATION_DOMAIN } from '../service';
import { categoryOf } from '../words';
import { ClusterCalls } from './calls';
import type { ClusterWidget } from './detail';
import { type IClusterLook, nameOf } from './view';

/** Opens the detail of a cluster: `{cluster: id, name?, preview?}`. */
export const OPEN_CLUSTER = 'svc-jupyter:open-cluster';
/** Commands of the palette, which ask for the cluster. */
export const SHOW_CLUSTERS = 'svc-jupyter:show-clusters';
export const CHOOSE_CLUSTER = 'svc-jupyter:choose-cluster';
export const START_CLUSTER = 'svc-jupyter:start-cluster';
export const TERMINATE_CLUSTER = 'svc-jupyter:terminate-cluster';

const RANK = 30;
const INTERVAL = 5_000;
/** How soon a change made elsewhere, such as in a cell, is seen: one cheap call while a view is visible. */
const STATES_INTERVAL = 1_000;
const sectionCode = (): Promise<typeof import('./section')> => import('./section');

/** The clusters, shared by the section, the details and the commands. */
interface IShared {
  app: JupyterFrontEnd;
  panel: ISvcPanel;
  trans: TranslationBundle;
  calls: ClusterCalls;
  clusters: Resource<IClusterLook[]>;
  states: Resource<Record<string, string>>;
}

/** The section "Clusters", the details of clusters in the main area, and their commands. */
export const clustersPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:clusters`,
  description: 'Clusters: state, health, start, terminate, and their workers.',
  autoStart: true,
  requires: [ISvcService, ISvcPanel],
  optional: [ITranslator, ILayoutRestorer, ICommandPalette, ILauncher],
  activate: (
    app: JupyterFrontEnd,
    service: ISvcService,
    panel: ISvcPanel,
    translator: ITranslator | null,
    restorer: ILayoutRestorer | null,
    palette: ICommandPalette | null,
    launcher: ILauncher | null
  ): void => {
    const trans = (translator ?? nullTranslator).load(TRANSLATION_DOMAIN);
    const calls = new ClusterCalls(service.requests);
    const clusters = new Resource<IClusterLook[]>({
      name: 'clusters',
      fetch: signal => calls.all(signal),
      interval: INTERVAL
    });

    const states = new Resource<Record<string, string>>({
      name: 'cluster-states',
      fetch: signal => calls.states(signal),
      interval: STATES_INTERVAL
    });
    const shared = { app, panel, trans, calls, clusters, states };
    addDetails(shared, restorer);
    addSection(shared);
    addCommands(shared, palette, launcher);
  }
};

function addSection({ app, panel, trans, calls, clusters, states }: IShared): void {
  const start = async ({ record }: IClusterLook): Promise<void> => {
    await calls.start(record.id);
    await Promise.all([states.refresh(), clusters.refresh()]);
  };
  const open = ({ record }: IClusterLook, preview: boolean): void =>
    void app.commands.execute(OPEN_CLUSTER, { cluster: record.id, name: nameOf(record), preview });
  const parts = { trans, clusters, open, start };
  const widget = new VisibleView(() => (
    <Loaded load={sectionCode} trans={trans}>
      {({ ClustersSection }) => (
        <UseSignal signal={panel.searchChanged}>
          {() => <ClustersSection {...parts} search={panel.search} />}
        </UseSignal>
      )}
    </Loaded>
  ));
  const title = trans.__('Clusters');
  const section = panel.addSection({ id: 'clusters', title, rank: RANK, widget });
  clusters.changed.connect(() => {
    const { value: all = [], error } = clusters.state;
    const up = all.filter(({ state }) => state.state === 'UP').length;
    section.badge = all.length && !error ? trans.__('%1 of %2 up', up, all.length) : '';
  });
  states.changed.connect(() => {
    const { value: seen } = states.state;
    const shown = clusters.state.value;
    if (seen && shown && !clusters.state.isLoading) {
      const known = Object.fromEntries(
        shown.map(({ record, state }) => [String(record.id), state.state])
      );
      if (Object.keys({ ...seen, ...known }).some(id => seen[id] !== known[id])) {
        void clusters.refresh();
      }
    }
  });
  panel.whileShown(() => clusters.watch());
  panel.whileShown(() => states.watch());
  panel.refreshRequested.connect(() => void clusters.refresh());
}

function addDetails(shared: IShared, restorer: ILayoutRestorer | null): void {
  const { app, panel, trans, calls, states } = shared;
  const tracker = new WidgetTracker<ClusterWidget>({ namespace: 'svc-jupyter-clusters' });
  app.commands.addCommand(OPEN_CLUSTER, {
    label: trans.__('Open cluster'),
    describedBy: {
      args: {
        type: 'object',
        properties: {
          cluster: { type: 'number' },
          name: { type: 'string' },
          preview: { type: 'boolean' }
        },
        required: ['cluster']
      }
    },
    execute: async ({ cluster, name, preview }) => {
      const make = async (): Promise<ClusterWidget> => {
        const { clusterWidget } = await import('./detail');
        const title = typeof name === 'string' ? name : String(Number(cluster));
        const widget = clusterWidget(calls, states, trans, Number(cluster), title);
        widget.id = detailId(cluster);
        await tracker.add(widget);
        return widget;
      };
      return panel.openView(detailId(cluster), make, preview === true);
    }
  });
  void restorer?.restore(tracker, {
    command: OPEN_CLUSTER,
    args: ({ id, title }) => ({ cluster: Number(id.split('-').at(-1)), name: title.label }),
    name: ({ id }) => id
  });
}

function detailId(cluster: unknown): string {
  return `svc-jupyter-cluster-${Number(cluster)}`;
}

/** Add what the palette and the launcher offer. */
function addCommands(
  shared: IShared,
  palette: ICommandPalette | null,
  launcher: ILauncher | null
): void {
  const { app, panel, trans, calls, clusters, states } = shared;
  const category = categoryOf(trans);
  const add = (id: string, label: string, execute: () => Promise<void>): void => {
    app.commands.addCommand(id, {
      label,
      icon: args => (args.isPalette ? undefined : clusterIcon),
      caption: trans.__('The clusters of the data-processing service'),
      describedBy: { args: { type: 'object', properties: {} } },
      execute
    });
    palette?.addItem({ command: id, category });
  };
  const chosen = async (title: string, states: readonly string[]): Promise<IClusterLook | null> => {
    const found = (await calls.all()).filter(({ state }) => states.includes(state.state));
    if (found.length === 0) {
      notify(trans.__('No cluster is in a state for this.'));
      return null;
    }
    const items = found.map(({ record }) => nameOf(record));
    const { button, value } = await InputDialog.getItem({ title, items });
    return button.accept ? (found[items.indexOf(value ?? '')] ?? null) : null;
  };
  const telling =
    (step: () => Promise<void>): (() => Promise<void>) =>
    async () => {
      try {
        await step();
      } catch (reason) {
        notifyError(reason);
      }
    };
  const open = ({ record }: IClusterLook): Promise<unknown> =>
    app.commands.execute(OPEN_CLUSTER, { cluster: record.id, name: nameOf(record) });
  const refresh = (): Promise<unknown> => Promise.all([states.refresh(), clusters.refresh()]);

  add(SHOW_CLUSTERS, trans.__('Clusters'), async () => {
    panel.reveal('clusters');
    return Promise.resolve();
  });
  const ANY = ['UP', 'DOWN', 'PENDING', 'TERMINATING'];
  add(
    CHOOSE_CLUSTER,
    trans.__('Open a cluster…'),
    telling(async () => {
      const look = await chosen(trans.__('Open a cluster'), ANY);
      await (look && open(look));
    })
  );
  add(
    START_CLUSTER,
    trans.__('Start a cluster…'),
    telling(async () => {
      const look = await chosen(trans.__('Start a cluster'), ['DOWN']);
      if (look) {
        await calls.start(look.record.id);
        await refresh();
        await open(look);
      }
    })
  );
  add(
    TERMINATE_CLUSTER,
    trans.__('Terminate a cluster…'),
    telling(async () => {
      const look = await chosen(trans.__('Terminate a cluster'), ['UP', 'PENDING']);
      const { questionOf } = await import('./steps');
      if (look) {
        const view = { ...look, asOf: new Date() };
        const question = questionOf(trans, { step: 'terminate', view, target: 0, node: null });
        if (await isConfirmed(trans, question)) {
          await calls.terminate(look.record.id);
          await refresh();
        }
      }
    })
  );
  launcher?.add({ command: SHOW_CLUSTERS, category, rank: 30 });
}
