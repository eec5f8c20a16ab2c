import type { IRun } from './runs';

/** Return the class of a run's colour. */
export function toneOf(run: Pick<IRun, 'hasFailed' | 'isDone' | 'status'>): string {
  if (run.hasFailed) {
    return 'jp-mod-failed';
  }
  if (!run.isDone) {
    return 'jp-mod-open';
  }
  return run.status === 'done' ? 'jp-mod-done' : 'jp-mod-cancelled';
}
