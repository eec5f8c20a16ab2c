import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import type { IClusterNode } from '../service/records/clusters';
import type { Tone } from './healthWords';
import type { ClusterModel } from './model';
import { obstacleToRemoval } from './steps';
import { containersOn, type IClusterView, phaseOf, workersOf } from './view';
import { containers, since } from './words';

interface IWorkersProps {
  trans: TranslationBundle;
  model: ClusterModel;
  view: IClusterView;
  remove: (node: string) => void;
}

const RUNNING = 'RUNNING';

/** The workers with their states, one row each; empty for a cluster that is terminating. */
export function Workers({ trans, model, view, remove }: IWorkersProps): JSX.Element | null {
  const workers = workersOf(view.state);
  if (phaseOf(view) === 'TERMINATING' || !workers.length) {
    return null;
  }
  const whyNot = model.steps.has('remove')
    ? null
    : (obstacleToRemoval(trans, view) ?? trans.__('not now'));
  return (
    <div>
      <table className="jp-SvcCluster-workers" aria-label={trans.__('Workers')}>
        <tbody>
          {workers.map(node => (
            <tr key={node.private_dns}>
              <th scope="row">{node.private_dns}</th>
              <td>
                <div className="jp-SvcCluster-facts">
                  <Status trans={trans} node={node} isKnown={model.doubt === null} />
                  <span>{model.doubt === null && workWords(trans, view, node)}</span>
                  <span className="jp-SvcMuted">{upWords(trans, node, model.now())}</span>
                </div>
              </td>
              <td>
                <RemoveButton trans={trans} node={node} whyNot={whyNot} remove={remove} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {whyNot && <p className="jp-SvcMuted">{trans.__('No worker can be removed: %1.', whyNot)}</p>}
    </div>
  );
}

function Status(props: {
  trans: TranslationBundle;
  node: IClusterNode;
  isKnown: boolean;
}): JSX.Element {
  const { status } = props.node;
  const tone: Tone = status === RUNNING ? 'good' : status === 'LOST' ? 'bad' : 'warning';
  if (!props.isKnown) {
    return <span className="jp-SvcTone jp-mod-calm">? {props.trans.__('unknown')}</span>;
  }
  const icon = { good: '●', bad: '✗', warning: '◐' }[tone];
  return (
    <span className={`jp-SvcTone jp-mod-${tone}`}>
      <span className="jp-SvcTone-icon" aria-hidden="true">
        {icon}
      </span>{' '}
      {statusWords(props.trans).get(status) ?? status}
    </span>
  );
}

/** Return the word for each status of a node. */
function statusWords(trans: TranslationBundle): ReadonlyMap<string, string> {
  return new Map([
    ['RUNNING', trans.__('running')],
    ['LOST', trans.__('lost')]
  ]);
}

function RemoveButton(props: {
  trans: TranslationBundle;
  node: IClusterNode;
  whyNot: string | null;
  remove: (node: string) => void;
}): JSX.Element {
  const { trans, node, whyNot } = props;
  const name = trans.__('Remove %1…', node.private_dns);
  return (
    <button
      type="button"
      className="jp-SvcButton jp-mod-small jp-mod-warn"
      aria-label={name}
      title={whyNot ? trans.__('%1: %2', name, whyNot) : name}
      disabled={whyNot !== null || node.status !== RUNNING}
      onClick={() => props.remove(node.private_dns)}
    >
      {trans.__('Remove…')}
    </button>
  );
}

function workWords(trans: TranslationBundle, view: IClusterView, node: IClusterNode): string {
  const count = containersOn(view, node.private_dns);
  if (count === null) {
    return '';
  }
  return count === 0 ? trans.__('idle') : containers(trans, count);
}

function upWords(trans: TranslationBundle, node: IClusterNode, now: number): string {
  const up = since(trans, node.up_time, new Date(now));
  return up ? trans.__('up %1', up) : '';
}
