import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** Opens a command in the main area: `{id}`. */
export const OPEN_COMMAND = 'svc-jupyter:open-command';

/** A section of the side panel. */
export interface ISection {
  /** Unique and stable across reloads: the key of the section's collapsed state. */
  id: string;
  title: string;
  /** Sections are sorted by rank, the smallest on top. */
  rank: number;
  /** The content of the section; `VisibleWidget` for React. */
  widget: Widget;
}

/** A section of the panel. */
export interface ISectionHandle extends IDisposable {
  /** A short text after the title, such as `2 running`; empty for none. */
  badge: string;
  /** Expand it if it is collapsed. */
  expand(): void;
}

/** The side panel. */
export interface ISvcPanel {
  /** Add a section. */
  addSection(section: ISection): ISectionHandle;
  /** Whether the panel is visible and the service is connected: a badge may be updated only then. */
  readonly isShown: boolean;
  /** Emitted with `isShown` when it changes. */
  readonly shownChanged: ISignal<ISvcPanel, boolean>;
  /** Hold watches while the panel is shown: `whileShown(() => resource.watch())`. */
  whileShown(watch: () => IDisposable): IDisposable;
}

/** The side panel. */
export const ISvcPanel = new Token<ISvcPanel>(
  'svc-jupyter-labextension:ISvcPanel',
  'The side panel of the data-processing service, to which features add sections.'
);
