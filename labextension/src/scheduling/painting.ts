import { createContext } from 'react';

/** Whether the surrounding view has been painted: initially invisible parts and calls wait for it. */
export const PaintedContext = createContext(true);

/** Call a function after the page's next paint; at once in a hidden page. */
export function afterPaint(step: () => void): void {
  if (document.hidden) {
    step();
  } else {
    requestAnimationFrame(() => setTimeout(step));
  }
}

/** Call a function when the page is idle; Safari does not report that. */
export function whenIdle(step: () => void): void {
  if ('requestIdleCallback' in window) {
    requestIdleCallback(step);
  } else {
    setTimeout(step);
  }
}
