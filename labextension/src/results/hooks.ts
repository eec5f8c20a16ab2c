import { useEffect, type RefObject } from 'react';
import { useSignal } from '../service';
import type { IResultState, ResultModel } from './model';

/** Return the current state of a result. */
export function useResult(model: ResultModel): IResultState {
  return useSignal(model.changed, () => model.state);
}

/** Call a function once the element is seen: a notebook may have results far below. */
export function useSeen(element: RefObject<Element>, seen: () => void): void {
  useEffect(() => {
    const node = element.current;
    if (node === null) {
      return;
    }
    const observer = new IntersectionObserver(entries => {
      if (entries.some(entry => entry.isIntersecting)) {
        observer.disconnect();
        seen();
      }
    });
    observer.observe(node);
    return () => observer.disconnect();
    // Only once per element.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [element]);
}

/** Lumino's mark of elements in which its keyboard shortcuts do nothing. */
const SUPPRESSED = 'data-lm-suppress-shortcuts';

/**
 * Keep plain keys within an element from JupyterLab's shortcuts while it has the focus: D, D would delete the cell.
 * Keys with Ctrl, Alt or Cmd stay JupyterLab's, but for those that `isOurs`.
 */
export function useOwnKeys(
  element: RefObject<Element>,
  isOurs: (event: KeyboardEvent) => boolean
): void {
  useEffect(() => {
    const node = element.current;
    if (node === null) {
      return;
    }
    // JupyterLab listens to the document before the event reaches any element.
    const mark = (event: KeyboardEvent): void => {
      if (node.contains(event.target as Node)) {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey;
        node.toggleAttribute(SUPPRESSED, isPlain || isOurs(event));
      }
    };
    window.addEventListener('keydown', mark, true);
    return () => window.removeEventListener('keydown', mark, true);
  }, [element, isOurs]);
}
