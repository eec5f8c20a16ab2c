import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import type { ClusterModel } from './model';
import { type IClusterView, typeOf } from './view';
import { workersLine } from './words';

interface ISizingProps {
  trans: TranslationBundle;
  model: ClusterModel;
  view: IClusterView;
  apply: () => void;
}

/** The current and the requested number of workers: `Workers 2 of 2 to 4  [−] 3 [+] [Apply…]`. */
export function Sizing({ trans, model, view, apply }: ISizingProps): JSX.Element {
  const isFixed = typeOf(view.record) === 'Spark' || model.doubt !== null || model.isWorking;
  const why = model.obstacle;
  const { target } = model;
  const step = (name: string, sign: string, change: number): JSX.Element => (
    <button
      type="button"
      className="jp-Button jp-mod-styled jp-mod-minimal"
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
      <b>{workersLine(trans, view)}</b>
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
        className="jp-Button jp-mod-styled"
        disabled={!model.steps.has('resize')}
        onClick={apply}
      >
        {trans.__('Apply…')}
      </button>
      {why && (
        <span role="status" className="jp-SvcTone jp-mod-warning">
          ! {why}
        </span>
      )}
    </div>
  );
}
