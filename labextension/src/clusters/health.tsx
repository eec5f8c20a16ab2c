import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { figures, healthEntries, type IHealthEntry } from './healthWords';
import { Sparkline } from './sparkline';
import { type IClusterView, type IPage, pagesOf, PLOT_SECONDS } from './view';

/** The properties of a part of the detail: a cluster as last fetched, and why that may be out of date. */
export interface IPartProps {
  trans: TranslationBundle;
  view: IClusterView;
  doubt: string | null;
  /** Unix time in milliseconds. */
  now: number;
}

/** The daemons: a dot, a name and a word for each, and the reason if one is unhealthy; then the engines' pages. */
export function Health({ trans, view, doubt }: IPartProps): JSX.Element | null {
  const entries = healthEntries(trans, view, doubt);
  const pages = pagesOf(view, window.location.hostname);
  if (!entries.length) {
    return null;
  }
  return (
    <div className="jp-SvcCluster-health">
      <ul className="jp-SvcCluster-line" aria-label={trans.__('Health')}>
        {entries.map(entry => (
          <li key={entry.name}>
            <HealthWord entry={entry} />
          </li>
        ))}
      </ul>
      {pages.length > 0 && (
        <div className="jp-SvcCluster-pages">
          <span className="jp-SvcMuted">
            {trans.__('Pages')} <span aria-hidden="true">↗</span>
          </span>
          {pages.map(page => (
            <Page key={page.name} trans={trans} page={page} />
          ))}
        </div>
      )}
    </div>
  );
}

function Page({ trans, page }: { trans: TranslationBundle; page: IPage }): JSX.Element {
  const { name, url, isReachable } = page;
  return isReachable ? (
    <a href={url.href} title={url.href} target="_blank" rel="noopener noreferrer">
      {name}
    </a>
  ) : (
    <span className="jp-SvcMuted">
      {trans.__('%1 at %2, on the service’s machine only', name, url.host)}
    </span>
  );
}

/** One entry of health: only what is not simply up has a word beside its dot. */
export function HealthWord({ entry }: { entry: IHealthEntry }): JSX.Element {
  const { dot, name, word, tone, reason } = entry;
  const isSilent = tone === 'good' && !word.includes(',');
  return (
    <span className={`jp-SvcTone jp-mod-${tone}`}>
      <span className="jp-SvcTone-icon" aria-hidden="true">
        {dot}
      </span>{' '}
      {name}
      <span className={isSilent ? 'jp-SvcUnseen' : 'jp-SvcMuted'}>
        {` ${word}`}
        {reason && ` · ${reason}`}
      </span>
    </span>
  );
}

interface IPlotted {
  metric: string;
  label: string;
  unit: string;
  top: number;
}

function plotted(trans: TranslationBundle): IPlotted[] {
  const heap = { label: trans.__('Heap'), unit: '%', top: 100 };
  return [
    { metric: 'cpu_usage', label: trans.__('CPU'), unit: '%', top: 100 },
    { metric: 'yarn_memory', label: trans.__('YARN memory'), unit: '%', top: 100 },
    { metric: 'containers_pending', label: trans.__('Pending containers'), unit: '', top: 1 },
    { metric: 'resourcemanager_heap', ...heap },
    { metric: 'zeppelin_heap', ...heap },
    { metric: 'presto_heap', ...heap },
    { metric: 'disk_usage', label: trans.__('Disk'), unit: '%', top: 100 }
  ];
}

/** The metrics, each over a plot of the last minutes; without plots when no samples are kept. */
export function Figures({ trans, view, doubt, now }: IPartProps): JSX.Element | null {
  if (!view.health || doubt !== null) {
    return null;
  }
  const series = view.metrics?.metrics ?? {};
  const shown = plotted(trans).flatMap(one => {
    const samples = series[one.metric]?.samples ?? [];
    return samples.length > 0 ? [{ ...one, samples }] : [];
  });
  if (!shown.length) {
    return (
      <dl className="jp-SvcCluster-figures">
        {figures(trans, view).map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    );
  }
  return (
    <dl className="jp-SvcCluster-figures" title={trans.__('last %1 minutes', PLOT_SECONDS / 60)}>
      {shown.map(({ metric, label, unit, top, samples }) => (
        <div key={metric}>
          <dt>{label}</dt>
          <dd>
            {`${samples.at(-1)?.[1].toFixed(0) ?? ''} ${unit}`.trim()}
            <Sparkline {...{ trans, label, samples, top, now: now / 1000, span: PLOT_SECONDS }} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
