import { useCallback, useContext, useEffect, useSyncExternalStore } from 'react';
import { VisibleContext } from '../service';
import type { CommandDetailModel, ICommandView } from './detailModel';

/** Return the current view of a command, and follow it while the component is visible. */
export function useCommandView(model: CommandDetailModel): ICommandView {
  const visible = useContext(VisibleContext);
  useEffect(() => {
    if (!visible || model.view.isLogRead) {
      return;
    }
    const watch = model.watch();
    return () => watch.dispose();
  }, [model, visible]);
  const subscribe = useCallback(
    (changed: () => void) => {
      model.changed.connect(changed);
      return () => void model.changed.disconnect(changed);
    },
    [model]
  );
  return useSyncExternalStore(subscribe, () => model.view);
}
