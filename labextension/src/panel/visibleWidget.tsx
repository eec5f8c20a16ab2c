import { ReactWidget } from '@jupyterlab/ui-components';
import type { Message } from '@lumino/messaging';
import type { JSX } from 'react';
import { VisibleContext } from '../service';

/** A widget whose components know whether they can be seen, so that nothing is asked of the service when they cannot. */
export abstract class VisibleWidget extends ReactWidget {
  /** What it shows. */
  protected abstract content(): JSX.Element;

  protected override render(): JSX.Element {
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

/** A `VisibleWidget` of a function. */
export class VisibleView extends VisibleWidget {
  constructor(private readonly _content: () => JSX.Element) {
    super();
  }

  protected override content(): JSX.Element {
    return this._content();
  }
}
