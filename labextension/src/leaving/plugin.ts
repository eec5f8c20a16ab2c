import type { JupyterFrontEnd, JupyterFrontEndPlugin } from '@jupyterlab/application';
import { IWindowResolver } from '@jupyterlab/apputils';
import { ServerConnection, WorkspaceManager } from '@jupyterlab/services';
import { IStateDB, StateDB } from '@jupyterlab/statedb';
import { EXTENSION_ID } from '../service';

/** Saves the page's state when it is left or reloaded just after a change: views opened, folded or typed into. */
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
    const last = new LastChange(() => performance.now());
    changed.connect(() => last.note());
    window.addEventListener('pagehide', () => {
      if (last.isUnsaved) {
        void save(app.serviceManager.serverSettings, state, resolver.name);
      }
    });
  }
};

async function save(
  settings: ServerConnection.ISettings,
  state: IStateDB,
  id: string
): Promise<void> {
  const serverSettings = ServerConnection.makeSettings({
    ...settings,
    init: { ...settings.init, keepalive: true } // the request outlives the page
  });
  try {
    await new WorkspaceManager({ serverSettings }).save(id, {
      data: await state.toJSON(),
      metadata: { id }
    });
  } catch {
    // The page is gone and no error can be shown; Lab's own save of earlier changes remains.
  }
}

/**
 * Milliseconds after a change in which JupyterLab may not have stored it: it waits for half a second without another
 * change, then for its request.
 */
const UNSAVED_FOR = 5_000;

/** The time of the last change to the page's state. */
export class LastChange {
  /** `clock` returns milliseconds. */
  constructor(private readonly _clock: () => number) {}

  /** Record a change now. */
  note(): void {
    this._at = this._clock();
  }

  /** Whether the change may not be stored yet; an idle page must not overwrite its workspace. */
  get isUnsaved(): boolean {
    return this._clock() - this._at < UNSAVED_FOR;
  }

  private _at = -Infinity;
}
