import type { TranslationBundle } from '@jupyterlab/translation';
import { type JSX, useState } from 'react';
import { EmptyState, ErrorState, LoadingState, TWO_LINES, TwoLines, VirtualList } from '../list';
import { asServiceError, type Resource, useResource } from '../service';
import { iconOf } from '../words';
import { HealthWord } from './health';
import { healthEntries, worstOf } from './healthWords';
import { has, type IClusterLook, isMoving, nameOf } from './view';
import { engineWords, listWords } from './words';

/** The content of the section, and the actions of its buttons. */
export interface IClustersSectionProps {
  trans: TranslationBundle;
  clusters: Resource<IClusterLook[]>;
  /** The text searched for; empty for none. */
  search: string;
  /** Open a cluster; as a preview, which the next one replaces. */
  open: (look: IClusterLook, preview: boolean) => void;
  start: (look: IClusterLook) => Promise<void>;
}

/** The clusters with state, type, size and health; Enter opens one. */
export function ClustersSection(props: IClustersSectionProps): JSX.Element {
  const { trans, clusters, search } = props;
  const [selected, setSelected] = useState<string | null>(null);
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
  const found = value.filter(({ record }) => has(record, search));
  const run = (step: Promise<void>): void => {
    setProblem(null);
    step.catch((reason: unknown) => setProblem(asServiceError(reason).message));
  };
  return (
    <>
      {error && <ErrorState error={error} {...retry} />}
      {value.length > 0 && found.length === 0 && (
        <EmptyState text={trans.__('No cluster has “%1”.', search)} />
      )}
      {problem && (
        <p role="alert" className="jp-SvcTone jp-mod-bad jp-SvcState">
          ✗ {problem}
        </p>
      )}
      <VirtualList
        items={found}
        keyOf={look => String(look.record.id)}
        label={trans.__('Clusters')}
        rowHeight={TWO_LINES}
        render={look => <ClusterRow trans={trans} look={look} asOf={asOf} isKnown={!error} />}
        actions={look => <StartButton {...props} look={look} run={run} isKnown={!error} />}
        selectedKey={selected}
        onSelect={look => setSelected(String(look.record.id))}
        onActivate={look => props.open(look, true)}
        onKeep={look => props.open(look, false)}
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

function ClusterRow({ trans, look, asOf = new Date(), isKnown }: IRowProps): JSX.Element {
  const { record, state } = look;
  const view = { ...look, asOf };
  const phase = state.state;
  const words = isKnown ? listWords(trans, view, new Date()) : trans.__('unknown');
  const worst = phase === 'UP' && isKnown ? worstOf(healthEntries(trans, view)) : null;
  const isHealthy = phase === 'UP' && isKnown && !worst;
  const tone = isMoving(phase) ? 'busy' : phase === 'UP' ? 'good' : 'calm';
  return (
    <TwoLines
      icon={isKnown ? iconOf(phase) : '?'}
      word=""
      tone={isKnown ? (worst?.tone ?? tone) : 'calm'}
      title={
        <>
          {nameOf(record)} <span className="jp-SvcMuted">{engineWords(trans, record)}</span>
        </>
      }
      facts={
        <>
          {isHealthy && `${trans.__('healthy')} · `}
          {words}
          {worst && (
            <>
              {' · '}
              <HealthWord entry={worst} />
            </>
          )}
        </>
      }
      hover={words}
    />
  );
}

interface IActionProps extends IClustersSectionProps {
  look: IClusterLook;
  run: (step: Promise<void>) => void;
  isKnown: boolean;
}

function StartButton({ trans, look, run, start, isKnown }: IActionProps): JSX.Element | null {
  if (look.state.state !== 'DOWN') {
    return null;
  }
  const words = trans.__('Start %1', nameOf(look.record));
  return (
    <button
      type="button"
      className="jp-SvcButton jp-mod-small"
      disabled={!isKnown}
      aria-label={words}
      title={words}
      onClick={() => run(start(look))}
    >
      {trans.__('Start')}
    </button>
  );
}
