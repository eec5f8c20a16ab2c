import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import type { ClusterModel } from './model';
import { addedBy } from './steps';
import { type IClusterView, typeOf } from './view';
import { workers, workersLine } from './words';

interface ISizingProps {
  trans: TranslationBundle;
  model: ClusterModel;
  view: IClusterView;
  apply: () => void;
}

/** The current and the requested number of workers: `Workers 2 of 2–4  [−] 3 [+] [Add 1 worker…]`. */
export function Sizing({ trans, model, view, apply }: ISizingProps): JSX.Element {
  const isFixed = typeOf(view.record) === 'Spark' || model.doubt !== null || model.isWorking;
  const why = model.obstacle;
  const { target } = model;
  const step = (name: string, sign: string, change: number): JSX.Element => (
    <button
      type="button"
      className="jp-SvcButton"
      aria-label={name}
      title={name}
      disabled={isFixed}
      onClick={() => model.aim(target + change)}
    >
      {sign}
    </button>
  );
  return (
    <div className="jp-SvcCluster-sizing">
      <span>
        <b>{trans.__('Workers')}</b> <span className="jp-SvcMuted">{workersLine(trans, view)}</span>
      </span>
      <span className="jp-SvcCluster-stepper">
        {step(trans.__('one worker fewer'), '−', -1)}
        <input
          type="number"
          className="jp-mod-styled"
          aria-label={trans.__('Number of workers')}
          min={1}
          value={Number.isNaN(target) ? '' : target}
          disabled={isFixed}
          onChange={event => model.aim(event.currentTarget.valueAsNumber)}
        />
        {step(trans.__('one worker more'), '+', 1)}
      </span>
      <button
        type="button"
        className="jp-SvcButton jp-mod-accept"
        disabled={!model.steps.has('resize')}
        onClick={apply}
      >
        {applyWords(trans, view, target)}
      </button>
      {why && (
        <span role="status" className="jp-SvcTone jp-mod-warning">
          ! {why}
        </span>
      )}
    </div>
  );
}

/** Return what applying the wanted size does: `Add 1 worker…`; `Apply…` while it does nothing. */
function applyWords(trans: TranslationBundle, view: IClusterView, target: number): string {
  const added = addedBy({ step: 'resize', view, target, node: null });
  if (!added) {
    return trans.__('Apply…');
  }
  return added > 0
    ? trans.__('Add %1…', workers(trans, added))
    : trans.__('Remove %1…', workers(trans, -added));
}
