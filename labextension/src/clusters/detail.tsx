import { MainAreaWidget } from '@jupyterlab/apputils';
import type { TranslationBundle } from '@jupyterlab/translation';
import { UseSignal } from '@jupyterlab/ui-components';
import { type JSX, useContext, useEffect } from 'react';
import { clusterIcon } from '../icons';
import { isConfirmed, VisibleView } from '../panel';
import { CommandFollower, type Resource, useResource, VisibleContext } from '../service';
import { asOfText, iconOf } from '../words';
import type { ClusterCalls } from './calls';
import { Figures, Health } from './health';
import { BUSY_PERIOD, ClusterModel } from './model';
import { Sizing } from './sizing';
import { questionOf, type Step } from './steps';
import { type IClusterView, isExternal, isMoving, nameOf, phaseOf } from './view';
import { clockOf, doing, engineWords, startWords, stateWords } from './words';
import { Workers } from './workers';
import '../../style/clusterDetail.css';

interface IDetailProps {
  trans: TranslationBundle;
  model: ClusterModel;
}

/** One cluster: its state, health and workers, and the possible steps. */
export function ClusterDetail({ trans, model }: IDetailProps): JSX.Element {
  const isVisible = useContext(VisibleContext);
  useEffect(() => {
    model.show(isVisible);
  }, [model, isVisible]);
  const { view, doubt, problem } = model;
  const ask = (step: Step, node: string | null = null): void =>
    void asked(trans, model, step, node);
  if (!view) {
    return (
      <div className="jp-SvcCluster" role={doubt ? 'alert' : 'status'}>
        <p>{doubt ?? trans.__('Asking the service…')}</p>
        {doubt && <Again trans={trans} model={model} />}
      </div>
    );
  }
  const part = { trans, view, doubt, now: model.now() };
  return (
    <article className="jp-SvcCluster">
      <Head trans={trans} model={model} view={view} terminate={() => ask('terminate')} />
      <Situation trans={trans} model={model} view={view} start={() => ask('start')} />
      <Health {...part} />
      <Figures {...part} />
      {phaseOf(view) === 'UP' && !isExternal(view.record) && (
        <Sizing trans={trans} model={model} view={view} apply={() => ask('resize')} />
      )}
      <Workers trans={trans} model={model} view={view} remove={node => ask('remove', node)} />
      <Commands trans={trans} model={model} />
      {problem && (
        <p role="alert" className="jp-SvcTone jp-mod-bad">
          ✗ {problem}
        </p>
      )}
      {model.note && <p role="status">{model.note}</p>}
      <Foot trans={trans} model={model} view={view} />
    </article>
  );
}

/** Ask for the confirmation of a step, then perform it. A start needs no confirmation. */
async function asked(
  trans: TranslationBundle,
  model: ClusterModel,
  step: Step,
  node: string | null
): Promise<void> {
  const question = model.question(step, node);
  if (!question) {
    return;
  }
  if (step === 'start' || (await isConfirmed(trans, questionOf(trans, question)))) {
    await model.perform(question);
  } else if (step === 'resize') {
    model.dismiss();
  }
}

interface IHeadProps extends IDetailProps {
  view: IClusterView;
  terminate: () => void;
}

function Head({ trans, model, view, terminate }: IHeadProps): JSX.Element {
  const { doubt, steps } = model;
  const phase = phaseOf(view);
  const isGood = phase === 'UP' && doubt === null;
  const words = doubt
    ? trans.__('unknown since %1: %2', clockOf(view.asOf), doubt)
    : stateWords(trans, view, new Date(model.now()));
  const tone = isGood ? 'good' : isMoving(phase) && !doubt ? 'busy' : 'calm';
  return (
    <header className="jp-SvcCluster-head">
      <h2>{nameOf(view.record)}</h2>
      <span className="jp-SvcMuted">{engineWords(trans, view.record)}</span>
      <span className={`jp-SvcChip jp-SvcTone jp-mod-${tone}`}>
        <span className="jp-SvcTone-icon" aria-hidden="true">
          {doubt ? '?' : iconOf(phase)}
        </span>{' '}
        {words}
      </span>
      <span className="jp-SvcCluster-space" />
      {phase !== 'DOWN' && (
        <button
          type="button"
          className="jp-SvcButton jp-mod-warn"
          disabled={!steps.has('terminate')}
          onClick={terminate}
        >
          {trans.__('Terminate…')}
        </button>
      )}
    </header>
  );
}

interface ISituationProps extends IDetailProps {
  view: IClusterView;
  start: () => void;
}

/** What happens to the cluster; of one that is down what a start does, and the start, where no other step comes. */
function Situation({ trans, model, view, start }: ISituationProps): JSX.Element | null {
  const happens = doing(trans, view);
  if (phaseOf(view) !== 'DOWN') {
    return happens ? <p role="status">{happens}</p> : null;
  }
  return (
    <div className="jp-SvcCluster-start">
      <button
        type="button"
        className="jp-SvcButton jp-mod-accept"
        disabled={!model.steps.has('start')}
        onClick={start}
      >
        {trans.__('Start')}
      </button>
      <p role="status">{[happens, startWords(trans, view.record)].filter(Boolean).join(' ')}</p>
    </div>
  );
}

function Commands({ trans, model }: IDetailProps): JSX.Element | null {
  const lines = model.commands.lines();
  if (!lines.length) {
    return null;
  }
  return (
    <div className="jp-SvcCluster-commands">
      <ul aria-label={trans.__('Commands of this panel')} aria-live="polite">
        {lines.map(line => (
          <li key={line.id} className={`jp-SvcTone jp-mod-${line.tone}`}>
            <span className="jp-SvcTone-icon" aria-hidden="true">
              {line.icon}
            </span>{' '}
            {line.text}
          </li>
        ))}
      </ul>
      {model.commands.running.length > 0 && (
        <button
          type="button"
          className="jp-SvcButton jp-mod-small"
          disabled={model.isWorking}
          title={trans.__('What was done so far is taken back')}
          onClick={() => void model.cancel()}
        >
          {trans.__('Cancel')}
        </button>
      )}
    </div>
  );
}

function Foot({ trans, model, view }: IDetailProps & { view: IClusterView }): JSX.Element {
  const seconds = model.period / 1000;
  const often =
    model.period === BUSY_PERIOD
      ? trans.__('refreshes every second while visible')
      : trans.__('refreshes every %1 s while visible', seconds);
  return (
    <footer className="jp-SvcMuted jp-SvcCluster-foot">
      <span title={often}>{asOfText(trans, view.asOf)}</span>
      {model.doubt && <Again trans={trans} model={model} />}
    </footer>
  );
}

function Again({ trans, model }: IDetailProps): JSX.Element {
  return (
    <button
      type="button"
      className="jp-SvcButton jp-mod-small"
      onClick={() => void model.refresh()}
    >
      {trans.__('Try again')}
    </button>
  );
}

/** Polls a resource while the view is visible. */
function Watching({ resource }: { resource: Resource<unknown> }): null {
  useResource(resource);
  return null;
}

/** A cluster's detail in the main area. */
export type ClusterWidget = MainAreaWidget<VisibleView>;

/** Return the widget of a cluster's detail; disposing it disposes its model. */
export function clusterWidget(
  calls: ClusterCalls,
  states: Resource<Record<string, string>>,
  trans: TranslationBundle,
  cluster: number,
  name: string
): ClusterWidget {
  const model = new ClusterModel(
    cluster,
    calls,
    id => new CommandFollower(calls.requests, id),
    trans
  );
  // A change made elsewhere is seen here at once, and one made here elsewhere.
  const onStates = (): void => model.hear(states.state.value?.[String(cluster)]);
  states.changed.connect(onStates);
  model.performed.connect(() => void states.refresh());
  const content = new VisibleView(() => (
    <UseSignal signal={model.changed}>
      {() => (
        <>
          <Watching resource={states} />
          <ClusterDetail model={model} trans={trans} />
        </>
      )}
    </UseSignal>
  ));
  const widget = new MainAreaWidget({ content });
  widget.toolbar.hide();
  widget.title.label = name;
  widget.title.caption = trans.__('Cluster %1', name);
  widget.title.icon = clusterIcon;
  widget.title.closable = true;
  widget.disposed.connect(() => {
    states.changed.disconnect(onStates);
    model.dispose();
  });
  return widget;
}
