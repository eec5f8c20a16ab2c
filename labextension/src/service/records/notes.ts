import type { Schemas, Sent, With } from './contract';

/** A form of a note; `value` is the stored one. */
export type INoteForm = With<
  Sent<Schemas['NoteForm'], 'label' | 'options' | 'hidden' | 'scope'>,
  { default: string | string[]; options: { value: string; label: string }[]; value?: unknown }
>;

/** A note without its document; `version` is absent when the service has no versions. */
export type INote = Pick<
  Schemas['NoteSummary'],
  'id' | 'name' | 'location' | 'note_type' | 'cluster_id' | 'updated_at'
> &
  Partial<Pick<Schemas['NoteSummary'], 'version'>> & { forms?: INoteForm[] };

/** A note, and the version of its local copy: null for a copy that is not saved back. */
export type INoteState = INote & { copied: number | null };
