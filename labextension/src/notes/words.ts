import type { TranslationBundle } from '@jupyterlab/translation';
import type { IResourceState } from '../service';
import type { INoteState } from '../service/records/notes';
import { timeText } from '../words';
import type { ISparkCluster } from './sparkClusters';

/** What the toolbar says of the saved note; `title` says more. Tones are those of chips. */
export interface ISaved {
  text: string;
  title: string;
  tone: 'good' | 'bad' | 'busy' | 'calm';
}

/** What of a notebook its words depend on. */
export interface INoteLook {
  noteId: number | null;
  isDirty: boolean;
  cluster: string | null;
  note: { readonly state: IResourceState<INoteState | null> };
}

/** Return which version of the note is saved, and whether the page shows it; null for a notebook that is no note. */
export function savedWords(trans: TranslationBundle, look: INoteLook, now: Date): ISaved | null {
  const { value: note, error } = look.note.state;
  if (look.noteId === null) {
    return null;
  }
  if (error) {
    return { text: trans.__('✗ note unknown'), title: error.message, tone: 'bad' };
  }
  if (!note) {
    return { text: trans.__('note …'), title: trans.__('The note is being read.'), tone: 'calm' };
  }
  const at = timeText(new Date(note.updated_at), now);
  const place = `${note.location}/${note.name}`;
  const version = note.version === undefined ? '' : trans.__('v%1', note.version);
  const said = (state: string): string => [version, state].filter(Boolean).join(' · ');
  if (note.copied === null && note.version !== undefined) {
    return {
      text: said(trans.__('not saved from here')),
      title: trans.__('This notebook is not saved into the note %1. A save asks.', place),
      tone: 'calm'
    };
  }
  if (note.copied !== null && note.copied !== note.version) {
    return {
      text: trans.__('! v%1 is newer', note.version),
      title: trans.__(
        'Somebody else saved version %1 of %2 at %3; this page shows version %4. A save asks before it overwrites it.',
        note.version,
        place,
        at,
        note.copied
      ),
      tone: 'bad'
    };
  }
  if (look.isDirty) {
    return {
      text: said(trans.__('changed')),
      title: trans.__('%1 was saved at %2. What has changed since is not saved.', place, at),
      tone: 'busy'
    };
  }
  return {
    text: `✓ ${said(trans.__('saved %1', at))}`,
    title: trans.__('%1 is saved in the service.', place),
    tone: 'good'
  };
}

/** Return why a notebook cannot run as a job, and what to do; null when it can. */
export function obstacleToJob(trans: TranslationBundle, look: INoteLook): string | null {
  const { value: note, error } = look.note.state;
  if (look.noteId === null) {
    return trans.__(
      'Only a note runs as a job. Make one of this notebook with %1, and open it from the section Notebooks of the side panel.',
      '%svc_notes import FILE'
    );
  }
  if (error) {
    return trans.__('The note cannot be read: %1', error.message);
  }
  if (!note) {
    return trans.__('The note is being read.');
  }
  if (note.note_type !== 'spark') {
    return trans.__('A Presto note does not run as a job.');
  }
  return look.cluster === null && note.cluster_id === null
    ? trans.__('Choose the cluster that runs it first.')
    : null;
}

/** Return the question before cells run on another cluster. */
export function clusterQuestion(
  trans: TranslationBundle,
  look: INoteLook,
  next: ISparkCluster
): string {
  const parts = [
    look.cluster === null
      ? trans.__('The next cells run on %1, in a new session.', next.name)
      : trans.__(
          'The next cells run on %1, in a new session: the variables of the session on %2 are gone.',
          next.name,
          look.cluster
        )
  ];
  if (next.state === 'DOWN') {
    parts.push(trans.__('%1 is down; the next cell starts it.', next.name));
  }
  const { value: note } = look.note.state;
  if (note) {
    parts.push(trans.__('The note %1 is bound to it too.', note.name));
  }
  return parts.join(' ');
}
