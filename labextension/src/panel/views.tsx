import { type JupyterFrontEnd, LabShell } from '@jupyterlab/application';
import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { JSX } from 'react';
import { VisibleContext } from '../service';

/**
 * A widget whose components know whether they are visible, so that hidden ones make no calls.
 *
 * It is empty until it is first visible, so that the code of its content is loaded only then.
 */
export abstract class VisibleWidget extends ReactWidget {
  private _wasVisible = false;

  /** Render the content. */
  protected abstract content(): JSX.Element;

  protected override render(): JSX.Element | null {
    this._wasVisible ||= this.isVisible;
    if (!this._wasVisible) {
      return null;
    }
    return (
      <VisibleContext.Provider value={this.isVisible}>{this.content()}</VisibleContext.Provider>
    );
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this.update();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this.update();
  }
}

/** A `VisibleWidget` from a function. */
export class VisibleView extends VisibleWidget {
  constructor(private readonly _content: () => JSX.Element) {
    super();
  }

  protected override content(): JSX.Element {
    return this._content();
  }
}

/**
 * Return the area for our views: the main area, or the right one if the main area holds a single document, as in
 * Notebook 7.
 */
export function viewArea(app: JupyterFrontEnd): 'main' | 'right' {
  return app.shell instanceof LabShell ? 'main' : 'right';
}
