import { caretDownIcon, caretRightIcon, ReactWidget } from '@jupyterlab/ui-components';
import { DisposableDelegate } from '@lumino/disposable';
import { Panel } from '@lumino/widgets';
import type { JSX } from 'react';
import type { BadgeTone, ISection, ISectionHandle } from './tokens';

/** A section of the panel: a head that folds the content below it. */
export class SectionPanel extends Panel {
  private readonly _head: SectionHead;

  constructor(
    readonly section: ISection,
    isOpen: boolean,
    private readonly _onToggle: (section: SectionPanel) => void
  ) {
    super();
    this.addClass('jp-SvcSection');
    const { widget, tools } = section;
    widget.id = `svc-jupyter-section-${section.id}`;
    widget.addClass('jp-SvcPanel-section');
    widget.node.setAttribute('role', 'region');
    widget.node.setAttribute('aria-label', section.title);
    this._head = new SectionHead(section.title, widget.id, () => this._onToggle(this));
    const bar = new Panel();
    bar.addClass('jp-SvcSection-bar');
    bar.addWidget(this._head);
    if (tools !== undefined) {
      tools.addClass('jp-SvcSection-tools');
      bar.addWidget(tools);
    }
    this.addWidget(bar);
    this.addWidget(widget);
    this.isOpen = isOpen;
  }

  get isOpen(): boolean {
    return this._head.isOpen;
  }

  /** Hidden content makes no calls. */
  set isOpen(isOpen: boolean) {
    this._head.isOpen = isOpen;
    this.section.widget.setHidden(!isOpen);
    this.section.tools?.setHidden(!isOpen);
    this._head.update();
  }

  /** Return what the feature that added the section may do with it. */
  handle(expand: () => void): ISectionHandle {
    const head = this._head;
    const remove = new DisposableDelegate(() => this.dispose());
    return {
      get badge() {
        return head.badge;
      },
      set badge(text: string) {
        head.badge = text;
        head.update();
      },
      get tone() {
        return head.tone;
      },
      set tone(tone: BadgeTone) {
        head.tone = tone;
        head.update();
      },
      expand,
      get isDisposed() {
        return remove.isDisposed;
      },
      dispose: () => remove.dispose()
    };
  }
}

class SectionHead extends ReactWidget {
  isOpen = true;
  badge = '';
  tone: BadgeTone = '';

  constructor(
    private readonly _title: string,
    private readonly _content: string,
    private readonly _toggle: () => void
  ) {
    super();
    this.addClass('jp-SvcSection-head');
  }

  protected override render(): JSX.Element {
    const { isOpen, badge, tone } = this;
    const Caret = isOpen ? caretDownIcon : caretRightIcon;
    return (
      <>
        <h3>
          <button
            type="button"
            className="jp-SvcSection-title"
            aria-expanded={isOpen}
            aria-controls={this._content}
            onClick={this._toggle}
          >
            <Caret.react tag="span" width="16px" height="16px" />
            {this._title}
          </button>
        </h3>
        {badge !== '' && <span className={`jp-SvcBadge jp-mod-${tone}`}>{badge}</span>}
      </>
    );
  }
}
