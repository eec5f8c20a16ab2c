import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import { forText, type IRun, statusText, summaryOfRuns, tookText } from './runs';
import { toneOf } from './tones';

/** The number of runs in the strip. */
const SHOWN = 30;
const LOWEST = 5;
const HIGHEST = 40;

/** The last runs as bars: high for long ones, red for failures; an outline is the next run. */
export function RunStrip(props: {
  runs: readonly IRun[];
  /** When the next run is, in words; null for none. */
  next: string | null;
  onSelect: (run: IRun) => void;
  trans: TranslationBundle;
}): JSX.Element {
  const { next, onSelect, trans } = props;
  const runs = props.runs.slice(0, SHOWN).reverse();
  const slowest = Math.max(1, ...runs.map(run => run.seconds ?? 0));
  const now = new Date();
  const summary = summaryOfRuns(trans, runs);
  return (
    <>
      <div className="jp-SvcStrip" role="img" aria-label={summary}>
        {runs.map(run => (
          <span
            key={run.key}
            className={`jp-SvcStrip-bar ${toneOf(run)}`}
            style={{ height: LOWEST + ((HIGHEST - LOWEST) * (run.seconds ?? 0)) / slowest }}
            title={[forText(trans, run, now), statusText(trans, run), tookText(trans, run, now)]
              .filter(text => text !== '')
              .join(' · ')}
            onClick={() => onSelect(run)}
          />
        ))}
        {next !== null && <span className="jp-SvcStrip-bar jp-mod-next" title={next} />}
      </div>
      <p className="jp-SvcMuted jp-SvcStrip-summary">{summary}</p>
    </>
  );
}
