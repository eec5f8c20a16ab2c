import { createContext } from 'react';

/** Whether what a component belongs to has been painted: what is not seen at first, and what is asked for, comes then. */
export const PaintedContext = createContext(true);

/** Do something once the page has been painted as it is by now; at once where the browser does not show it. */
export function afterPaint(step: () => void): void {
  if (document.hidden) {
    step();
  } else {
    requestAnimationFrame(() => setTimeout(step));
  }
}
