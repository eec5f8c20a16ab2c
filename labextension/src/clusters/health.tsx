import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { figures, healthEntries, type IHealthEntry } from './healthWords';
import { Sparkline } from './sparkline';
import { type IClusterView, PLOT_SECONDS } from './view';

/** The properties of a part of the detail: a cluster as last fetched, and why that may be out of date. */
export interface IPartProps {
  trans: TranslationBundle;
  view: IClusterView;
  doubt: string | null;
  /** Unix time in milliseconds. */
  now: number;
}

/** The daemons: a dot, a name and a word for each, and the reason if one is unhealthy. */
export function Health({ trans, view, doubt }: IPartProps): JSX.Element | null {
  const entries = healthEntries(trans, view, doubt);
  if (!entries.length) {
    return null;
  }
  return (
    <ul className="jp-SvcCluster-line" aria-label={trans.__('Health')}>
      {entries.map(entry => (
        <li key={entry.name}>
          <HealthWord entry={entry} />
        </li>
      ))}
    </ul>
  );
}

/** One entry of health. */
export function HealthWord({ entry }: { entry: IHealthEntry }): JSX.Element {
  return (
    <span className={`jp-SvcTone jp-mod-${entry.tone}`}>
      <span className="jp-SvcTone-icon" aria-hidden="true">
        {entry.dot}
      </span>{' '}
      {entry.name} <b>{entry.word}</b>
      {entry.reason && <span className="jp-SvcMuted"> ({entry.reason})</span>}
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
  return [
    { metric: 'cpu_usage', label: trans.__('CPU'), unit: '%', top: 100 },
    {
      metric: 'resourcemanager_heap',
      label: trans.__('ResourceManager heap'),
      unit: '%',
      top: 100
    },
    { metric: 'disk_usage', label: trans.__('disk'), unit: '%', top: 100 },
    { metric: 'yarn_memory', label: trans.__('YARN memory'), unit: '%', top: 100 },
    { metric: 'containers_pending', label: trans.__('pending containers'), unit: '', top: 1 }
  ];
}

/** The metrics with plots of the last minutes; without plots when no samples are kept. */
export function Figures({ trans, view, doubt, now }: IPartProps): JSX.Element | null {
  if (!view.health || doubt !== null) {
    return null;
  }
  const series = view.metrics?.metrics ?? {};
  const shown = plotted(trans).filter(({ metric }) => series[metric]?.samples.length);
  if (!shown.length) {
    return <p className="jp-SvcCluster-line">{figures(trans, view).join(' · ')}</p>;
  }
  return (
    <ul className="jp-SvcCluster-line" aria-label={trans.__('Figures')}>
      {shown.map(({ metric, label, unit, top }) => {
        const samples = series[metric]?.samples ?? [];
        const last = samples.at(-1)?.[1].toFixed(0) ?? '';
        const plot = { trans, label, samples, top, now: now / 1000, span: PLOT_SECONDS };
        return (
          <li key={metric}>
            {label} <b>{`${last} ${unit}`.trim()}</b> <Sparkline {...plot} />
          </li>
        );
      })}
      <li className="jp-SvcMuted">{trans.__('last %1 minutes', PLOT_SECONDS / 60)}</li>
    </ul>
  );
}
