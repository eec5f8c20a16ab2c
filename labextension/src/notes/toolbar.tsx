import type { TranslationBundle } from '@jupyterlab/translation';
import { HTMLSelect, ToolbarButtonComponent, UseSignal } from '@jupyterlab/ui-components';
import type { CommandRegistry } from '@lumino/commands';
import type { JSX } from 'react';
import { runAsJobIcon } from '../icons';
import { notify, notifyError } from '../notices';
import { isConfirmed, OPEN_COMMAND } from '../panel';
import { asServiceError, useNow, useResource } from '../service';
import { wordsOfClusters } from '../statuses';
import { iconOf } from '../words';
import type { ISparkCluster } from './sparkClusters';
import type { SparkNotebook } from './sparkNotebook';
import { clusterQuestion, obstacleToJob, savedWords } from './words';

const FORBIDDEN = 403;

/** Properties of the items in a notebook's toolbar. */
export interface IItemProps {
  notebook: SparkNotebook;
  trans: TranslationBundle;
  commands: CommandRegistry;
}

/** The version of the note that is saved. */
export function SavedItem(props: IItemProps): JSX.Element {
  return <UseSignal signal={props.notebook.changed}>{() => <SavedVersion {...props} />}</UseSignal>;
}

function SavedVersion({ notebook, trans }: IItemProps): JSX.Element | null {
  useResource(notebook.note);
  const saved = savedWords(trans, notebook, useNow(false));
  return (
    saved && (
      <span className={`jp-SvcChip jp-mod-${saved.tone}`} role="status" title={saved.title}>
        {saved.text}
      </span>
    )
  );
}

/** `Run as a job`. */
export function JobItem(props: IItemProps): JSX.Element {
  const { notebook, trans } = props;
  return (
    <UseSignal signal={notebook.changed}>
      {() => {
        const obstacle = obstacleToJob(trans, notebook);
        return (
          <ToolbarButtonComponent
            icon={runAsJobIcon}
            label={trans.__('Run as a job')}
            enabled={obstacle === null && !notebook.isSubmitting}
            tooltip={
              obstacle ??
              trans.__(
                'Save the note and run it in the service, with the values above; it goes on when this page is closed.'
              )
            }
            onClick={() => void runAsJob(props)}
          />
        );
      }}
    </UseSignal>
  );
}

async function runAsJob({ notebook, trans, commands }: IItemProps): Promise<void> {
  try {
    const command = await notebook.submit();
    if (command) {
      await commands.execute(OPEN_COMMAND, { id: command.id });
    }
  } catch (reason) {
    notifyError(trans.__('The note does not run as a job: %1', asServiceError(reason).message));
  }
}

/** The cluster that runs the cells, and the choice of another one. */
export function ClusterItem(props: IItemProps): JSX.Element {
  return (
    <UseSignal signal={props.notebook.changed}>{() => <ClusterChoice {...props} />}</UseSignal>
  );
}

function ClusterChoice(props: IItemProps): JSX.Element {
  const { notebook, trans } = props;
  const { value: clusters, error } = useResource(notebook.clusters);
  const current = notebook.cluster;
  // Which cluster a note is bound to is known once it is read.
  const { value: note, error: unread } = notebook.note.state;
  const known = notebook.noteId !== null && !note && !unread ? [] : (clusters ?? []);
  const states = wordsOfClusters(trans);
  const options = known.map(({ name, state }) => ({
    value: name,
    label: `${iconOf(state)} ${name} · ${states.get(state) ?? state}`
  }));
  if (current === null) {
    const isReading = known.length < (clusters?.length ?? 0);
    const words = noneWords(trans, isReading ? undefined : clusters, error !== undefined);
    options.unshift({ value: '', label: words });
  } else if (!known.some(({ name }) => name === current)) {
    options.unshift({ value: current, label: `${current} · ${trans.__('unknown')}` });
  }
  return (
    <HTMLSelect
      className="jp-SvcNote-cluster"
      aria-label={trans.__('Cluster')}
      title={error?.message ?? trans.__('The Spark cluster that runs the cells')}
      value={current ?? ''}
      options={options}
      disabled={known.length === 0}
      onChange={event => {
        const chosen = known.find(({ name }) => name === event.target.value);
        if (chosen && chosen.name !== current) {
          void choose(props, chosen);
        }
      }}
    />
  );
}

function noneWords(
  trans: TranslationBundle,
  clusters: readonly ISparkCluster[] | undefined,
  isUnknown: boolean
): string {
  if (isUnknown) {
    return trans.__('clusters unknown');
  }
  if (!clusters) {
    return trans.__('clusters …');
  }
  return clusters.length ? trans.__('Choose a cluster') : trans.__('no Spark cluster');
}

async function choose({ notebook, trans }: IItemProps, cluster: ISparkCluster): Promise<void> {
  const question = {
    title: trans.__('Run on %1', cluster.name),
    text: clusterQuestion(trans, notebook, cluster),
    yes: trans.__('Run on %1', cluster.name),
    isDestructive: false
  };
  if (!(await isConfirmed(trans, question))) {
    return;
  }
  try {
    await notebook.choose(cluster);
  } catch (reason) {
    const error = asServiceError(reason);
    if (error.status === FORBIDDEN) {
      notify(
        trans.__(
          'The cells of this kernel run on %1. The note stays bound as it was: you may not change it.',
          cluster.name
        )
      );
    } else {
      notifyError(
        trans.__(
          'The cells of this kernel run on %1, but the note is not bound to it: %2',
          cluster.name,
          error.message
        )
      );
    }
  }
}
