import type { ITranslator } from '@jupyterlab/translation';
import { DisposableDelegate, type IDisposable } from '@lumino/disposable';
import type { Message } from '@lumino/messaging';
import { type ISignal, Signal } from '@lumino/signaling';
import { Panel, type Widget } from '@lumino/widgets';
import { ConnectionHeader } from '../connection/header';
import { NotConnected } from '../connection/notConnected';
import { type ISvcService, type Resource, TRANSLATION_DOMAIN } from '../service';
import type { IConnectionStatus } from '../service/records/connection';
import { type IPanelMemory, placeOf } from './model';
import type { Views } from './previews';
import { SearchBox } from './searchBox';
import { SectionPanel } from './section';
import type { ISection, ISectionHandle, ISvcPanel } from './tokens';
import { VisibleView } from './views';

/** The parts of the panel besides its sections. */
export interface IServicePanelOptions {
  service: ISvcService;
  translator: ITranslator;
  views: Views;
  /** Shows this panel. */
  activate: () => void;
  /** Called with the collapsed sections after each change. */
  remember: (collapsed: string[]) => void;
}

/**
 * The side panel: the connection and the search, then the sections, or without a connection what to do.
 *
 * Each section is as high as its content; where that is more than there is, the large ones share the rest and scroll.
 */
export class ServicePanel extends Panel implements ISvcPanel {
  private readonly _shownChanged = new Signal<ISvcPanel, boolean>(this);
  private readonly _searchChanged = new Signal<ISvcPanel, string>(this);
  private readonly _refreshRequested = new Signal<ISvcPanel, void>(this);
  private readonly _sections: SectionPanel[] = [];
  private readonly _collapsed = new Set<string>();
  /** The sections that were collapsed during the search. */
  private readonly _collapsedInSearch = new Set<string>();
  private readonly _connection: Resource<IConnectionStatus>;
  private readonly _content = new Panel();
  private readonly _search: Widget;
  private readonly _notConnected: Widget;
  private readonly _remember: (collapsed: string[]) => void;
  private readonly _views: Views;
  private readonly _activate: () => void;
  private _text = '';
  private _watch: IDisposable | null = null;
  private _wasShown = false;

  constructor(options: IServicePanelOptions) {
    super();
    const { connection } = options.service;
    const trans = options.translator.load(TRANSLATION_DOMAIN);
    this.addClass('jp-SvcPanel');
    this._connection = connection;
    this._remember = options.remember;
    this._views = options.views;
    this._activate = options.activate;
    this._search = new VisibleView(() => (
      <SearchBox trans={trans} search={text => this._searchFor(text)} />
    ));
    this._notConnected = new VisibleView(() => (
      <NotConnected service={options.service} trans={trans} />
    ));
    this._content.addClass('jp-SvcPanel-content');
    this.addWidget(
      new VisibleView(() => (
        <ConnectionHeader connection={connection} refresh={() => this._refresh()} trans={trans} />
      ))
    );
    this.addWidget(this._search);
    this.addWidget(this._content);
    this.addWidget(this._notConnected);
    this._showSections(false);
    this._connection.changed.connect(this._onConnection, this);
  }

  get isShown(): boolean {
    return this._content.isVisible;
  }

  get shownChanged(): ISignal<ISvcPanel, boolean> {
    return this._shownChanged;
  }

  get search(): string {
    return this._text;
  }

  get searchChanged(): ISignal<ISvcPanel, string> {
    return this._searchChanged;
  }

  get refreshRequested(): ISignal<ISvcPanel, void> {
    return this._refreshRequested;
  }

  addSection(section: ISection): ISectionHandle {
    const ranks = this._sections.map(one => one.section);
    const place = placeOf(section, ranks);
    const panel = new SectionPanel(section, this._isOpen(section.id), one => this._toggle(one));
    this._sections.splice(place, 0, panel);
    this._content.insertWidget(place, panel);
    panel.node.addEventListener('focusin', () => this._use(panel));
    panel.disposed.connect(() => this._sections.splice(this._sections.indexOf(panel), 1));
    return panel.handle(() => {
      if (!panel.isOpen) {
        this._toggle(panel);
      }
    });
  }

  reveal(section: string): void {
    this._activate();
    const panel = this._sections.find(one => one.section.id === section);
    if (panel !== undefined && !panel.isOpen) {
      this._toggle(panel);
    }
    panel?.node.querySelector<HTMLElement>('button')?.focus();
  }

  openView<T extends Widget>(id: string, make: () => Promise<T>, isPreview = false): Promise<T> {
    return this._views.open(id, make, isPreview);
  }

  /** Collapse the sections that were collapsed at the last visit, including those added later. */
  restore(memory: IPanelMemory): void {
    for (const id of memory.collapsed) {
      this._collapsed.add(id);
    }
    this._fold();
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
    this._showSections(value?.connected === true && error === undefined);
    this._tellShown();
  }

  private _showSections(areShown: boolean): void {
    this._notConnected.setHidden(areShown);
    this._search.setHidden(!areShown);
    this._content.setHidden(!areShown);
  }

  private _tellShown(): void {
    if (this.isShown !== this._wasShown) {
      this._wasShown = this.isShown;
      this._shownChanged.emit(this._wasShown);
    }
  }

  private _refresh(): void {
    void this._connection.refresh();
    this._refreshRequested.emit();
  }

  private _searchFor(text: string): void {
    if (text !== this._text) {
      this._text = text;
      this._collapsedInSearch.clear();
      this._fold();
      this._searchChanged.emit(text);
    }
  }

  private _isOpen(id: string): boolean {
    return !(this._text === '' ? this._collapsed : this._collapsedInSearch).has(id);
  }

  private _fold(): void {
    for (const one of this._sections) {
      one.isOpen = this._isOpen(one.section.id);
    }
  }

  /** Mark the section that was used last: its selection is the panel's. */
  private _use(panel: SectionPanel): void {
    for (const one of this._sections) {
      one.toggleClass('jp-mod-current', one === panel);
    }
  }

  private _toggle(panel: SectionPanel): void {
    const { id } = panel.section;
    const collapsed = this._text === '' ? this._collapsed : this._collapsedInSearch;
    if (!collapsed.delete(id)) {
      collapsed.add(id);
    }
    panel.isOpen = this._isOpen(id);
    if (collapsed === this._collapsed) {
      this._remember([...collapsed]);
    }
  }
}
