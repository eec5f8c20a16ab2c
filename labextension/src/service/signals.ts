import type { ISignal } from '@lumino/signaling';
import { useCallback, useSyncExternalStore } from 'react';

/** Return what `read` returns, which the component draws anew once a signal says that it changed. */
export function useSignal<T>(signal: ISignal<unknown, unknown>, read: () => T): T {
  const subscribe = useCallback(
    (changed: () => void) => {
      signal.connect(changed);
      return () => void signal.disconnect(changed);
    },
    [signal]
  );
  return useSyncExternalStore(subscribe, read);
}
