import type { JSX } from 'react';
import type { IBin } from './calls';

const WIDTH = 76;
const HEIGHT = 14;

/** The bins of a histogram as bars; the numbers stand beside it, so it is nothing for screen readers. */
export function Histogram(props: { bins: readonly IBin[] }): JSX.Element {
  const { bins } = props;
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const step = WIDTH / Math.max(1, bins.length);
  return (
    <svg
      className="jp-SvcResult-histogram"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {bins.map((bin, index) => {
        // A bin with few values beside one with many is still seen.
        const height = bin.count === 0 ? 0 : Math.max(1, (bin.count / most) * HEIGHT);
        return (
          <rect
            key={index}
            x={index * step}
            y={HEIGHT - height}
            width={Math.max(0.5, step - 1)}
            height={height}
          />
        );
      })}
    </svg>
  );
}
