import type { ITranslator } from '@jupyterlab/translation';
import { AccordionToolbar, SidePanel, Toolbar } from '@jupyterlab/ui-components';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';
import { AccordionPanel, Panel, type PanelLayout, Widget } from '@lumino/widgets';
import { ConnectionHeader } from '../connection/header';
import { NotConnected } from '../connection/notConnected';
import { type ISvcService, type Resource, TRANSLATION_DOMAIN } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { type IPanelMemory, placeOf } from './model';
import type { ISection, ISectionHandle, ISvcPanel } from './tokens';
import { VisibleView } from './views';

/** The parts of the panel besides its sections. */
export interface IServicePanelOptions {
  service: ISvcService;
  translator: ITranslator;
  /** Called with the collapsed sections after each change. */
  remember: (collapsed: string[]) => void;
}

/** The side panel: a connection line, then the sections, or without a connection what to do. */
export class ServicePanel extends SidePanel implements ISvcPanel {
  private readonly _shownChanged = new Signal<ISvcPanel, boolean>(this);
  private readonly _sections: ISection[] = [];
  private readonly _collapsed = new Set<string>();
  private readonly _accordion: AccordionPanel;
  private readonly _connection: Resource<IConnectionStatus>;
  private readonly _notConnected: Widget;
  private readonly _remember: (collapsed: string[]) => void;
  private _watch: IDisposable | null = null;
  private _wasShown = false;

  constructor(options: IServicePanelOptions) {
    const { connection } = options.service;
    const trans = options.translator.load(TRANSLATION_DOMAIN);
    const accordion = new AccordionPanel({ layout: AccordionToolbar.createLayout({}) });
    const header = new Panel();
    header.addWidget(
      new VisibleView(() => <ConnectionHeader connection={connection} trans={trans} />)
    );
    super({ header, content: accordion, translator: options.translator });
    this.addClass('jp-SvcPanel');
    this._accordion = accordion;
    this._connection = connection;
    /* Replaces the sections while there is no connection. */
    this._notConnected = new VisibleView(() => (
      <NotConnected service={options.service} trans={trans} />
    ));
    this._remember = options.remember;
    (this.layout as PanelLayout).addWidget(this._notConnected);
    accordion.hide();
    this._connection.changed.connect(this._onConnection, this);
    accordion.expansionToggled.connect(this._onToggled, this);
  }

  get isShown(): boolean {
    return this.content.isVisible;
  }

  get shownChanged(): ISignal<ISvcPanel, boolean> {
    return this._shownChanged;
  }

  addSection(section: ISection): ISectionHandle {
    const { widget } = section;
    const badge = new Badge();
    const place = placeOf(section, this._sections);
    widget.id = `svc-jupyter-section-${section.id}`;
    widget.title.label = section.title;
    widget.addClass('jp-SvcPanel-section');
    this._sections.splice(place, 0, section);
    this.insertWidget(place, Object.assign(widget, { toolbar: badge.toolbar }));
    if (this._collapsed.has(section.id)) {
      this._accordion.collapse(place);
    }
    const remove = new DisposableDelegate(() => {
      this._sections.splice(this._sections.indexOf(section), 1);
      widget.dispose();
    });
    return {
      get badge() {
        return badge.text;
      },
      set badge(text: string) {
        badge.text = text;
      },
      expand: () => this._accordion.expand(this._sections.indexOf(section)),
      get isDisposed() {
        return remove.isDisposed;
      },
      dispose: () => remove.dispose()
    };
  }

  /** Collapse the sections that were collapsed at the last visit, including those added later. */
  restore(memory: IPanelMemory): void {
    for (const id of memory.collapsed) {
      this._collapsed.add(id);
      const index = this._sections.findIndex(section => section.id === id);
      if (index >= 0) {
        this._accordion.collapse(index);
      }
    }
  }

  whileShown(watch: () => IDisposable): IDisposable {
    let held: IDisposable | null = this.isShown ? watch() : null;
    const follow = (_: ISvcPanel, shown: boolean): void => {
      held?.dispose();
      held = shown ? watch() : null;
    };
    this._shownChanged.connect(follow);
    return new DisposableDelegate(() => {
      this._shownChanged.disconnect(follow);
      held?.dispose();
    });
  }

  override dispose(): void {
    this._watch?.dispose();
    this._connection.changed.disconnect(this._onConnection, this);
    super.dispose();
  }

  protected override onAfterShow(message: Message): void {
    super.onAfterShow(message);
    this._watch ??= this._connection.watch();
    this._tellShown();
  }

  protected override onAfterHide(message: Message): void {
    super.onAfterHide(message);
    this._watch?.dispose();
    this._watch = null;
    this._tellShown();
  }

  private _onConnection(): void {
    const { value, error } = this._connection.state;
    const isConnected = value?.connected === true && error === undefined;
    this._notConnected.setHidden(isConnected);
    this.content.setHidden(!isConnected);
    this._tellShown();
  }

  private _tellShown(): void {
    if (this.isShown !== this._wasShown) {
      this._wasShown = this.isShown;
      this._shownChanged.emit(this._wasShown);
    }
  }

  private _onToggled(accordion: AccordionPanel, index: number): void {
    const section = this._sections[index];
    if (section === undefined) {
      return;
    }
    if (accordion.widgets[index]?.isHidden === true) {
      this._collapsed.add(section.id);
    } else {
      this._collapsed.delete(section.id);
    }
    this._remember([...this._collapsed]);
  }
}

/**
 * A short text at the end of a section's title.
 *
 * It is in the section's toolbar: an accordion replaces a title when its text changes, which would remove the keyboard
 * focus.
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
