/** Do something when the page has nothing else to do; Safari does not tell. */
export function whenIdle(step: () => void): void {
  if ('requestIdleCallback' in window) {
    requestIdleCallback(step);
  } else {
    setTimeout(step);
  }
}
