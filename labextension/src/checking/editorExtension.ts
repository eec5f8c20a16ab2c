import { Compartment } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { ViewPlugin } from '@codemirror/view';
import type { EditorView, PluginValue, ViewUpdate } from '@codemirror/view';
import { hasSql } from './sqlCells';

/** Loads the extension that checks; most notebooks never need it. */
export type ChecksLoader = () => Promise<Extension>;

/**
 * Return an editor extension that begins to check a cell as soon as it has SQL.
 *
 * @param views - Where the editors that are checked are kept
 */
export function sqlChecks(load: ChecksLoader, views: Set<EditorView>): Extension {
  const compartment = new Compartment();
  return [
    compartment.of([]),
    ViewPlugin.define(view => new Checks(view, compartment, load, views))
  ];
}

class Checks implements PluginValue {
  constructor(
    private readonly _view: EditorView,
    private readonly _compartment: Compartment,
    private readonly _load: ChecksLoader,
    private readonly _views: Set<EditorView>
  ) {
    this._look();
  }

  update(update: ViewUpdate): void {
    if (update.docChanged) {
      this._look();
    }
  }

  destroy(): void {
    this._views.delete(this._view);
  }

  private _look(): void {
    if (!this._isBegun && hasSql(this._view.state.doc.toString())) {
      this._isBegun = true;
      this._views.add(this._view);
      void this._begin();
    }
  }

  private async _begin(): Promise<void> {
    const checks = await this._load();
    if (this._views.has(this._view)) {
      this._view.dispatch({ effects: this._compartment.reconfigure(checks) });
    }
  }

  private _isBegun = false;
}
