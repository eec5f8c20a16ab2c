import { useCallback, useContext, useEffect, useSyncExternalStore } from 'react';
import type { IResourceState, Resource } from './resource';
import { VisibleContext } from './visibility';

/** Return what is known of a resource, and have it read while the component can be seen. */
export function useResource<T>(resource: Resource<T>): IResourceState<T> {
  const visible = useContext(VisibleContext);
  useEffect(() => {
    if (!visible) {
      return;
    }
    const watch = resource.watch();
    return () => watch.dispose();
  }, [resource, visible]);
  const subscribe = useCallback(
    (changed: () => void) => {
      resource.changed.connect(changed);
      return () => void resource.changed.disconnect(changed);
    },
    [resource]
  );
  return useSyncExternalStore(subscribe, () => resource.state);
}
