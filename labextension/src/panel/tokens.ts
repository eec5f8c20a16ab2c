import { Token } from '@lumino/coreutils';
import type { IDisposable } from '@lumino/disposable';
import type { ISignal } from '@lumino/signaling';
import type { Widget } from '@lumino/widgets';

/** A section of the side panel. */
export interface ISection {
  /** Unique, and the same after a reload: by it the section is found collapsed or not again. */
  id: string;
  title: string;
  /** Sections stand by rank, the smallest on top. */
  rank: number;
  /** What it holds; `VisibleWidget` for React. */
  widget: Widget;
}

/** A section that is in the panel. */
export interface ISectionHandle extends IDisposable {
  /** A few words behind the title, such as `2 running`; empty for none. */
  badge: string;
  /** Open it, when it is collapsed. */
  expand(): void;
}

/** The side panel. */
export interface ISvcPanel {
  /** Add a section. */
  addSection(section: ISection): ISectionHandle;
  /** Whether the panel is seen and the service is there: only then may a badge be kept up to date. */
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
