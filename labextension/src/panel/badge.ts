import { Toolbar } from '@jupyterlab/ui-components';
import { Widget } from '@lumino/widgets';

/**
 * A few words at the end of a section's title.
 *
 * They stand in the section's toolbar: an accordion makes a title anew when its text changes, and whoever is there with
 * the keyboard would be thrown out.
 */
export class Badge {
  readonly toolbar = new Toolbar();
  private readonly _label = new Widget({ node: document.createElement('span') });

  constructor() {
    this._label.addClass('jp-SvcPanel-badge');
    this.toolbar.addItem('badge', this._label);
  }

  get text(): string {
    return this._label.node.textContent;
  }

  set text(text: string) {
    if (text !== this.text) {
      this._label.node.textContent = text;
    }
  }
}
