import type { JupyterFrontEnd } from '@jupyterlab/application';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { Widget } from '@lumino/widgets';
import { reloading } from './loaded';
import { viewArea } from './views';

const PREVIEW = 'jp-mod-svcPreview';

/** The views in the main area: each is open once, and at most one is a preview, which the next preview replaces. */
export class Views {
  private readonly _open = new Map<string, Promise<Widget>>();
  private _preview: Widget | null = null;

  private readonly _offer: (retry: () => void) => void;

  constructor(
    private readonly _app: JupyterFrontEnd,
    trans: TranslationBundle
  ) {
    this._offer = reloading(trans);
  }

  /** Show a view, made unless it is open. A view opened without `isPreview` stays, also if it was a preview before. */
  async open<T extends Widget>(id: string, make: () => Promise<T>, isPreview: boolean): Promise<T> {
    const known = this._open.get(id) as Promise<T> | undefined;
    const made = known ?? make();
    if (known === undefined) {
      this._open.set(id, made);
    }
    let view: T;
    try {
      view = await made;
    } catch (reason) {
      if (this._open.delete(id)) {
        this._offer(() => void this.open(id, make, isPreview));
      }
      throw reason;
    }
    if (known === undefined) {
      view.id = id;
      view.disposed.connect(() => {
        this._open.delete(id);
        this._preview = this._preview === view ? null : this._preview;
      });
      this._add(view, isPreview);
    }
    if (!isPreview && this._preview === view) {
      this._preview = null;
      view.title.className = '';
    }
    this._app.shell.activateById(id);
    return view;
  }

  private _add(view: Widget, isPreview: boolean): void {
    const { shell } = this._app;
    const before = isPreview ? this._preview : null;
    shell.add(view, viewArea(this._app), before ? { mode: 'tab-after', ref: before.id } : {});
    if (isPreview) {
      view.title.className = PREVIEW;
      this._preview = view;
      before?.dispose();
    }
  }
}
