import type { Language } from '@codemirror/language';
import { Compartment, Prec } from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import { ViewPlugin } from '@codemirror/view';
import type { EditorView, PluginValue, ViewUpdate } from '@codemirror/view';
import { languageOfBody } from './magicCells';

/** Returns the language with a name, for the body of a cell; `null` when there is none. */
export type LanguageLoader = (name: string) => Promise<Language | null>;

/**
 * Return an editor extension that shows the body of a cell in the language of the cell's magic.
 *
 * Each change reads only the first line; the language is replaced only when it names another one.
 *
 * @param load - Loads a language when it is needed for the first time
 * @returns The extension of one editor
 */
export function magicHighlighting(load: LanguageLoader): Extension {
  const compartment = new Compartment();
  const plugin = ViewPlugin.define(view => new CellLanguage(view, compartment, load));
  // An editor uses the first language it is given, so this comes before the notebook's own.
  return [Prec.highest(compartment.of([])), plugin];
}

class CellLanguage implements PluginValue {
  constructor(
    private readonly _view: EditorView,
    private readonly _compartment: Compartment,
    private readonly _load: LanguageLoader
  ) {
    this._look();
  }

  update(update: ViewUpdate): void {
    if (update.docChanged) {
      this._look();
    }
  }

  destroy(): void {
    this._wanted = undefined;
  }

  private _look(): void {
    const name = languageOfBody(this._view.state.doc);
    if (name !== this._wanted) {
      this._wanted = name;
      void this._apply(name);
    }
  }

  /** An editor cannot be changed during an update: apply it afterwards, if it is still wanted. */
  private async _apply(name: string | null): Promise<void> {
    const language = await (name === null ? null : this._load(name));
    if (this._wanted === name) {
      this._view.dispatch({ effects: this._compartment.reconfigure(language ?? []) });
    }
  }

  private _wanted: string | null | undefined = null;
}
