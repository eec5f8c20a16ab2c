import { createContext, useContext, useEffect, useState } from 'react';
import type { IResourceState, Resource } from './resource';
import { useSignal } from './signals';

/** Whether the surrounding component is visible. Panels provide it; `useResource` reads it. */
export const VisibleContext = createContext(true);

/** Return the state of a resource, and poll it while the component is visible. */
export function useResource<T>(resource: Resource<T>): IResourceState<T> {
  const visible = useContext(VisibleContext);
  useEffect(() => {
    if (!visible) {
      return;
    }
    const watch = resource.watch();
    return () => watch.dispose();
  }, [resource, visible]);
  return useSignal(resource.changed, () => resource.state);
}

/** Return the time, updated each second while `runs` is true and the component is visible. */
export function useNow(runs: boolean): Date {
  const visible = useContext(VisibleContext);
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    setNow(new Date());
    if (!runs || !visible) {
      return;
    }
    const timer = setInterval(() => setNow(new Date()), 1_000);
    return () => clearInterval(timer);
  }, [runs, visible]);
  return now;
}
