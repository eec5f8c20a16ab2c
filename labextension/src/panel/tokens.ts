import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** Opens a command in the main area: `{id, preview?}`. */
export const OPEN_COMMAND = 'svc-jupyter:open-command';

/** A section of the side panel. */
export interface ISection {
  /** Unique and stable across reloads: the key of the section's collapsed state. */
  id: string;
  title: string;
  /** Sections are sorted by rank, the smallest on top; the Tab key follows this order. */
  rank: number;
  /** The content of the section; `VisibleWidget` for React. It gets the height that it needs, as far as there is room. */
  widget: Widget;
  /** Shown at the right of the section's head, such as a filter. */
  tools?: Widget;
}

/** The emphasis of a badge: `busy` for work under way, `attention` for a failure. */
export type BadgeTone = '' | 'busy' | 'attention';

/** A section of the panel. */
export interface ISectionHandle extends IDisposable {
  /** A short text after the title, such as `2 running`; empty for none. */
  badge: string;
  /** The emphasis of the badge. */
  tone: BadgeTone;
  /** Expand it if it is collapsed. */
  expand(): void;
}

/** The side panel. */
export interface ISvcPanel {
  /** Show the panel, with a section expanded and its head focused. */
  reveal(section: string): void;
  /** Add a section. */
  addSection(section: ISection): ISectionHandle;
  /** Whether the panel is visible and the service is connected: a badge may be updated only then. */
  readonly isShown: boolean;
  /** Emitted with `isShown` when it changes. */
  readonly shownChanged: ISignal<ISvcPanel, boolean>;
  /** Hold watches while the panel is shown: `whileShown(() => resource.watch())`. */
  whileShown(watch: () => IDisposable): IDisposable;
  /** The text searched for, trimmed, in lower case; empty for none. Every section is open meanwhile and shows what has it. */
  readonly search: string;
  /** Emitted with `search` when it changes. */
  readonly searchChanged: ISignal<ISvcPanel, string>;
  /** Emitted when the user asks to read everything again. */
  readonly refreshRequested: ISignal<ISvcPanel, void>;
  /**
   * Show a view in the main area, made unless it is open.
   *
   * A preview is in the one tab that the next preview replaces. Opened without `isPreview`, a view stays.
   */
  openView<T extends Widget>(id: string, make: () => Promise<T>, isPreview?: boolean): Promise<T>;
}

/** The side panel. */
export const ISvcPanel = new Token<ISvcPanel>(
  'svc-jupyter-labextension:ISvcPanel',
  'The side panel of the data-processing service, to which features add sections.'
);
