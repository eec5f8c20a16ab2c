import type { TranslationBundle } from '@jupyterlab/translation';
import type { IQuestion } from '../panel';
import {
  containersOn,
  type IClusterView,
  isExternal,
  maximumOf,
  minimumOf,
  nameOf,
  phaseOf,
  typeOf,
  workersOf
} from './view';
import { phaseWord, sizes, startWords, workers } from './words';

/** A change of a cluster. */
export type Step = 'start' | 'terminate' | 'resize' | 'remove';

/** A step that waits for its confirmation; `target` is the number of workers, `node` the worker to remove. */
export interface IStepQuestion {
  step: Step;
  view: IClusterView;
  target: number;
  node: string | null;
}

/** Return how many workers a new size adds; negative when it removes some. */
export function addedBy(question: IStepQuestion): number {
  return question.target - workersOf(question.view.state).length;
}

/** Return the steps possible in the cluster's state. */
export function possibleSteps(view: IClusterView): ReadonlySet<Step> {
  switch (phaseOf(view)) {
    case 'DOWN':
      return new Set<Step>(['start']);
    case 'PENDING':
      return new Set<Step>(['terminate']);
    case 'UP':
      return typeOf(view.record) === 'Spark' || isExternal(view.record)
        ? new Set<Step>(['terminate'])
        : new Set<Step>(['terminate', 'resize', 'remove']);
    default:
      return new Set<Step>();
  }
}

/** Return the service's message about nodes of a Spark cluster. */
export function sparkRefusal(trans: TranslationBundle): string {
  return trans.__('Node changes are not supported for Spark clusters');
}

/** Return why the cluster cannot get this many workers, or null if nothing visible here prevents it. */
export function obstacleTo(
  trans: TranslationBundle,
  view: IClusterView,
  target: number
): string | null {
  const type = typeOf(view.record);
  const least = minimumOf(view.record);
  if (isExternal(view.record)) {
    return trans.__('nodes of an external cluster are added and removed by those who run it');
  }
  if (type === 'Spark') {
    return sparkRefusal(trans);
  }
  if (!Number.isInteger(target) || target < 1) {
    return trans.__('a cluster has at least 1 worker');
  }
  if (type === 'Hadoop' && target < Math.min(least, workersOf(view.state).length)) {
    return trans.__(
      '%1 is below its minimum of %2 (%3): Hadoop stays at that size',
      target,
      least,
      sizes(trans, view.record)
    );
  }
  return null;
}

/** Return why the cluster cannot lose a worker, or null if nothing visible here prevents it. */
export function obstacleToRemoval(trans: TranslationBundle, view: IClusterView): string | null {
  if (!possibleSteps(view).has('remove')) {
    return typeOf(view.record) === 'Spark' || isExternal(view.record)
      ? obstacleTo(trans, view, workersOf(view.state).length)
      : trans.__('the cluster is %1', phaseWord(trans, phaseOf(view)));
  }
  return obstacleTo(trans, view, workersOf(view.state).length - 1);
}

/** Return the question: the step, the cluster and the consequences. */
export function questionText(trans: TranslationBundle, question: IStepQuestion): string {
  const name = nameOf(question.view.record);
  switch (question.step) {
    case 'start':
      return trans.__('Start %1? %2', name, startWords(trans, question.view.record));
    case 'terminate':
      if (isExternal(question.view.record)) {
        return trans.__(
          'Let go of %1? What runs on it for this service or waits for it ends in error; the cluster itself continues.',
          name
        );
      }
      return trans.__(
        "Terminate %1? What runs on it or waits for it ends in error; its HDFS and logs are gone for good. What is in the account's storage stays.",
        name
      );
    case 'remove':
      return removeText(trans, question);
    case 'resize':
      return resizeText(trans, question, name);
  }
}

/** Return the label of the confirming button; it names the object. */
export function yesText(trans: TranslationBundle, question: IStepQuestion): string {
  const added = addedBy(question);
  switch (question.step) {
    case 'start':
      return trans.__('Start %1', nameOf(question.view.record));
    case 'terminate':
      return trans.__('Terminate %1', nameOf(question.view.record));
    case 'remove':
      return trans.__('Remove %1', question.node);
    case 'resize':
      return added > 0
        ? trans.__('Add %1', workers(trans, added))
        : trans.__('Remove %1', workers(trans, -added));
  }
}

/** Return the question for the dialog. */
export function questionOf(trans: TranslationBundle, question: IStepQuestion): IQuestion {
  return {
    title: trans.__('Cluster %1', nameOf(question.view.record)),
    text: questionText(trans, question),
    yes: yesText(trans, question),
    isDestructive:
      question.step !== 'start' && !(question.step === 'resize' && addedBy(question) > 0)
  };
}

/** Return the description of a confirmed step's command: `adding 1 node`. */
export function doingOf(trans: TranslationBundle, question: IStepQuestion): string {
  const added = addedBy(question);
  if (question.step === 'resize' && added > 0) {
    return trans._n('adding %1 node', 'adding %1 nodes', added);
  }
  return trans.__('removing %1', question.node ?? trans.__('a node'));
}

function removeText(trans: TranslationBundle, { view, node }: IStepQuestion): string {
  const count = node === null ? null : containersOn(view, node);
  return count
    ? trans._n(
        'Remove %2? It takes no new work, finishes its %1 container, then leaves.',
        'Remove %2? It takes no new work, finishes its %1 containers, then leaves.',
        count,
        node
      )
    : trans.__('Remove %1? It takes no new work, finishes what runs on it, then leaves.', node);
}

function resizeText(trans: TranslationBundle, question: IStepQuestion, name: string): string {
  const added = addedBy(question);
  const most = maximumOf(question.view.record);
  if (added < 0) {
    return trans._n(
      'Remove %2 from %3? The idlest worker leaves, after what runs there has finished.',
      'Remove %2 from %3? The idlest workers leave, after what runs there has finished.',
      -added,
      workers(trans, -added),
      name
    );
  }
  if (most && question.target > most) {
    return trans.__(
      "%1 is above this cluster's maximum of %2. The service does not check it. Add anyway?",
      question.target,
      most
    );
  }
  return trans.__('Add %1 to %2, so that it has %3?', workers(trans, added), name, question.target);
}
