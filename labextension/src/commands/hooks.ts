import { useContext, useEffect } from 'react';
import { useSignal, VisibleContext } from '../service';
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
  return useSignal(model.changed, () => model.view);
}
