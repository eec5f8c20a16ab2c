import { nullTranslator } from '@jupyterlab/translation';
import { ServiceError } from '../service';
import type { INoteState } from '../service/records/notes';
import { clusterQuestion, type INoteLook, obstacleToJob, savedWords } from './words';

const trans = nullTranslator.load('svc_jupyter');
const NOW = new Date(2026, 10, 22, 14, 30);
const NOTE: INoteState = {
  id: 7,
  name: 'late',
  location: 'Common',
  note_type: 'spark',
  cluster_id: 3,
  updated_at: new Date(2026, 10, 22, 14, 2).toISOString(),
  version: 7,
  copied: 7
};

function look(note: Partial<INoteState> | null, more: Partial<INoteLook> = {}): INoteLook {
  const value = note && { ...NOTE, ...note };
  return {
    noteId: note ? 7 : null,
    isDirty: false,
    cluster: 'spark',
    note: { state: { value, isLoading: false } },
    ...more
  };
}

const failing = {
  note: { state: { error: new ServiceError('no answer', 503), isLoading: false } }
};

describe('savedWords', () => {
  const text = (of: INoteLook): string | undefined => savedWords(trans, of, NOW)?.text;

  it('names the version that is saved and when', () => {
    expect(text(look({}))).toBe('✓ v7 · saved 14:02');
  });

  it('tells what is not in the service', () => {
    expect(text(look({}, { isDirty: true }))).toBe('v7 · changed');
    expect(text(look({ copied: null }))).toBe('v7 · not saved from here');
  });

  it('tells of a save of somebody else', () => {
    const words = savedWords(trans, look({ version: 9 }), NOW);
    expect(words?.text).toBe('! v9 is newer');
    expect(words?.title).toContain('this page shows version 7');
  });

  it('does without versions, where the service has none', () => {
    const without: INoteState = { ...NOTE, copied: null };
    delete without.version;
    expect(text(look({}, { note: { state: { value: without, isLoading: false } } }))).toBe(
      '✓ saved 14:02'
    );
  });

  it('says why a note is not known, and nothing of a notebook that is no note', () => {
    expect(savedWords(trans, look({}, failing), NOW)).toMatchObject({
      tone: 'bad',
      title: 'no answer'
    });
    expect(text(look(null))).toBeUndefined();
  });
});

describe('obstacleToJob', () => {
  it('is none for a note with a cluster', () => {
    expect(obstacleToJob(trans, look({}))).toBeNull();
    expect(obstacleToJob(trans, look({ cluster_id: null }))).toBeNull();
  });

  it('says what to do', () => {
    expect(obstacleToJob(trans, look(null))).toContain('%svc_notes import FILE');
    expect(obstacleToJob(trans, look({}, failing))).toContain('no answer');
    expect(obstacleToJob(trans, look({ note_type: 'presto' }))).toContain('Presto');
    const nowhere = look({ cluster_id: null }, { cluster: null });
    expect(obstacleToJob(trans, nowhere)).toContain('Choose the cluster');
  });
});

describe('clusterQuestion', () => {
  it('tells what is lost, what starts and what is bound', () => {
    const next = { id: 4, name: 'other', state: 'DOWN' } as const;
    const question = clusterQuestion(trans, look({}), next);
    expect(question).toContain('the variables of the session on spark are gone');
    expect(question).toContain('the next cell starts it');
    expect(question).toContain('The note late is bound to it too');
  });

  it('claims nothing that is not known', () => {
    const next = { id: 4, name: 'other', state: 'UP' } as const;
    const question = clusterQuestion(trans, look(null, { cluster: null }), next);
    expect(question).toBe('The next cells run on other, in a new session.');
  });
});
