import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IWindowResolver } from '@jupyterlab/apputils';
import { ServerConnection, WorkspaceManager } from '@jupyterlab/services';
import { IStateDB, StateDB } from '@jupyterlab/statedb';
import { EXTENSION_ID } from '../service';
import { LastChange } from './lastChange';

/** Keeps views that were opened, folded or typed into just before the page is left or loaded again. */
export const leavingPlugin: JupyterFrontEndPlugin<void> = {
  id: `${EXTENSION_ID}:leaving`,
  description: 'Saves the workspace as it is when the page is left, before JupyterLab would.',
  autoStart: true,
  requires: [IStateDB],
  optional: [IWindowResolver],
  activate: (app: JupyterFrontEnd, state: IStateDB, resolver: IWindowResolver | null): void => {
    const changed = state instanceof StateDB ? state.changed : null;
    if (!resolver || !changed) {
      return; // nothing is kept from one page to the next
    }
    const { serverSettings } = app.serviceManager;
    const outliving = ServerConnection.makeSettings({
      ...serverSettings,
      init: { ...serverSettings.init, keepalive: true }
    });
    const workspaces = new WorkspaceManager({ serverSettings: outliving });
    const last = new LastChange(() => performance.now());
    changed.connect(() => last.note());
    window.addEventListener('pagehide', () => {
      if (last.isUnsaved) {
        void save(workspaces, state, resolver.name);
      }
    });
  }
};

async function save(workspaces: WorkspaceManager, state: IStateDB, id: string): Promise<void> {
  try {
    await workspaces.save(id, { data: await state.toJSON(), metadata: { id } });
  } catch {
    // The page is gone, and with it everybody who could be told; Lab's own save of what came before stands.
  }
}
