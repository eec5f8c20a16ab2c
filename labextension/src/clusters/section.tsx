import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, VirtualList } from '../list';
import { asServiceError, type Resource, useResource } from '../service';
import { iconOf } from '../words';
import { HealthWord } from './health';
import { healthEntries, worstOf } from './healthWords';
import { type IClusterLook, nameOf, typeOf, workersOf } from './view';
import { sizeWords } from './words';

/** The content of the section, and the actions of its buttons. */
export interface IClustersSectionProps {
  trans: TranslationBundle;
  clusters: Resource<IClusterLook[]>;
  open: (look: IClusterLook) => void;
  start: (look: IClusterLook) => Promise<void>;
  /** Asks for confirmation first. */
  terminate: (look: IClusterLook) => Promise<void>;
}

/** The clusters with state, type, size and health; Enter opens one. */
export function ClustersSection(props: IClustersSectionProps): JSX.Element {
  const { trans, clusters } = props;
  const { value, error, asOf } = useResource(clusters);
  const [problem, setProblem] = useState<string | null>(null);
  const retry = { retry: () => void clusters.refresh(), retryLabel: trans.__('Try again') };
  if (!value) {
    return error ? (
      <ErrorState error={error} {...retry} />
    ) : (
      <LoadingState text={trans.__('Asking the service…')} />
    );
  }
  if (!value.length) {
    return (
      <EmptyState
        text={trans.__(
          'The service has no clusters. Restarting it makes the one called “default” again.'
        )}
      />
    );
  }
  const run = (step: Promise<void>): void => {
    setProblem(null);
    step.catch((reason: unknown) => setProblem(asServiceError(reason).message));
  };
  return (
    <>
      {error && <ErrorState error={error} {...retry} />}
      {problem && (
        <p role="alert" className="jp-SvcTone jp-mod-bad jp-SvcState">
          ✗ {problem}
        </p>
      )}
      <VirtualList
        items={value}
        keyOf={look => String(look.record.id)}
        label={trans.__('Clusters')}
        render={look => <ClusterRow trans={trans} look={look} asOf={asOf} isKnown={!error} />}
        actions={look => <ClusterAction {...props} look={look} run={run} isKnown={!error} />}
        onActivate={props.open}
        activateOnClick
      />
    </>
  );
}

interface IRowProps {
  trans: TranslationBundle;
  look: IClusterLook;
  asOf: Date | undefined;
  isKnown: boolean;
}

function ClusterRow({ trans, look, asOf, isKnown }: IRowProps): JSX.Element {
  const { record, state } = look;
  const phase = state.state;
  const isGood = phase === 'UP' && isKnown;
  const size = phase === 'DOWN' ? '' : sizeWords(record, workersOf(state).length);
  const worst = worstOf(healthEntries(trans, { ...look, asOf: asOf ?? new Date() }));
  return (
    <span className="jp-SvcClusters-row">
      <span className={`jp-SvcTone jp-mod-${isGood ? 'good' : 'calm'}`}>
        <span className="jp-SvcTone-icon" aria-hidden="true">
          {isKnown ? iconOf(phase) : '?'}
        </span>
      </span>{' '}
      <b>{nameOf(record)}</b> {isKnown ? phase : trans.__('unknown')} {size}
      {phase === 'UP' && isKnown && (
        <>
          {' · '}
          {worst ? <HealthWord entry={worst} /> : `✓ ${trans.__('healthy')}`}
        </>
      )}
      <span className="jp-SvcMuted"> · {typeOf(record)}</span>
    </span>
  );
}

interface IActionProps extends IClustersSectionProps {
  look: IClusterLook;
  run: (step: Promise<void>) => void;
  isKnown: boolean;
}

function ClusterAction({
  trans,
  look,
  run,
  start,
  terminate,
  isKnown
}: IActionProps): JSX.Element | null {
  const phase = look.state.state;
  const name = nameOf(look.record);
  if (phase === 'TERMINATING') {
    return null;
  }
  const isDown = phase === 'DOWN';
  const words = isDown ? trans.__('Start %1', name) : trans.__('Terminate %1…', name);
  return (
    <button
      type="button"
      className="jp-Button jp-mod-styled jp-mod-minimal"
      disabled={!isKnown}
      aria-label={words}
      title={words}
      onClick={() => run(isDown ? start(look) : terminate(look))}
    >
      {isDown ? trans.__('Start') : '■'}
    </button>
  );
}
