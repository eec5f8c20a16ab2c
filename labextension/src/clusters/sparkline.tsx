import type { TranslationBundle } from '@jupyterlab/translation';
import type { JSX } from 'react';
import type { Samples } from '../service/records/clusters';

const WIDTH = 96;
const HEIGHT = 20;
const MARGIN = 2;
/** Samples come every 5 s: the plot leaves a gap where at least this many seconds are missing. */
const GAP_SECONDS = 30;

/** A young cluster's plot begins with its first sample, but covers at least this many seconds. */
const LEAST_SECONDS = 60;

/** A plot of samples over the last `span` seconds; `top` is the minimum of the upper edge. */
export interface ISparklineProps {
  trans: TranslationBundle;
  label: string;
  samples: Samples;
  /** Unix seconds. */
  now: number;
  span: number;
  top: number;
}

/** A small plot over time, with the same as text for screen readers; nothing without data. */
export function Sparkline(props: ISparklineProps): JSX.Element | null {
  const { trans, label, samples, now, top } = props;
  const age = now - (samples[0]?.[0] ?? now);
  const span = Math.min(props.span, Math.max(age, LEAST_SECONDS));
  const seen = samples.filter(([at]) => at >= now - span && at <= now);
  const last = seen.at(-1);
  if (!last) {
    return null;
  }
  const values = seen.map(([, value]) => value);
  const edge = Math.max(top, ...values);
  const said = trans.__(
    '%1 over %2 minutes: from %3 to %4, last %5',
    label,
    Math.ceil(span / 60),
    Math.min(...values).toFixed(0),
    Math.max(...values).toFixed(0),
    last[1].toFixed(0)
  );
  return (
    <svg
      className="jp-SvcSparkline"
      role="img"
      aria-label={said}
      width={WIDTH}
      height={HEIGHT}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
    >
      <title>{said}</title>
      <line x1="0" y1={HEIGHT - 1} x2={WIDTH} y2={HEIGHT - 1} />
      {pieces(seen).map(piece => (
        <polyline key={piece[0]?.[0]} points={points(piece, now, span, edge)} />
      ))}
    </svg>
  );
}

/** Return the samples, split at gaps. */
export function pieces(samples: Samples): Samples[] {
  const found: Samples[] = [];
  for (const sample of samples) {
    const piece = found.at(-1);
    const before = piece?.at(-1);
    if (piece && before && sample[0] - before[0] <= GAP_SECONDS) {
      piece.push(sample);
    } else {
      found.push([sample]);
    }
  }
  return found;
}

function points(piece: Samples, now: number, span: number, edge: number): string {
  const drawn = piece.map(([at, value]): [number, number] => [
    WIDTH - MARGIN - ((now - at) / span) * (WIDTH - 2 * MARGIN),
    HEIGHT - MARGIN - (edge ? value / edge : 0) * (HEIGHT - 2 * MARGIN)
  ]);
  const first = drawn[0];
  if (first && drawn.length === 1) {
    drawn.unshift([first[0] - 1, first[1]]);
  }
  return drawn.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(' ');
}
