import type { ServiceRequests } from '../service';
import { ServiceError } from '../service';
import { type INoteMark, markOf, NoteCopy } from './noteCopies';

/** A note of a service that refuses what was made of another version than it has. */
class Note {
  version = 3;
  readonly overwritten: boolean[] = [];
  /** What happens elsewhere while a saving is under way. */
  meanwhile: () => void = () => undefined;

  put = (_: string, { overwrite }: { overwrite: boolean }): Promise<unknown> => {
    const stored = this.onDisk();
    this.meanwhile();
    if (!overwrite && stored.version !== this.version) {
      return Promise.reject(new ServiceError('note 7 was changed meanwhile', 409));
    }
    this.version += 1;
    this.overwritten.push(overwrite);
    return Promise.resolve({ id: 7, name: 'late', location: 'Common', version: this.version });
  };

  constructor(private readonly onDisk: () => INoteMark) {}
}

function opened(mark: unknown = { note: 7, version: 3 }) {
  let metadata = mark as INoteMark;
  let onDisk = metadata;
  const model = {
    dirty: false,
    getMetadata: () => metadata,
    setMetadata: (_: string, value: unknown) => {
      metadata = value as INoteMark;
    }
  };
  const saves: (() => Promise<void>)[] = [];
  const save = async (): Promise<void> => {
    onDisk = metadata;
    model.dirty = false;
    await Promise.all(saves.map(told => told()));
  };
  const note = new Note(() => onDisk);
  const told: string[] = [];
  let overwrite: () => Promise<void> = () => Promise.resolve();
  const copy = new NoteCopy(
    note as unknown as ServiceRequests,
    { model, save },
    () => 'late.ipynb',
    {
      saved: one => told.push(`saved ${one.version}`),
      refused: (error, _, all) => {
        told.push(error.message);
        overwrite = all;
      }
    }
  );
  saves.push(() => copy.onSaved());
  return { model, save, saves, note, told, stored: () => onDisk, overwrite: () => overwrite() };
}

describe('NoteCopy', () => {
  it('saves a copy back each time it is saved, and knows its note’s version from then on', async () => {
    const { save, note, told, stored } = opened();
    await save();
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
    expect(stored()).toEqual({ note: 7, version: 5 });
    expect(note.version).toBe(5);
  });

  it('overwrites what somebody else wrote only when it is told to', async () => {
    const { save, note, told, overwrite } = opened();
    note.version = 9;
    await save();
    expect(told).toEqual(['note 7 was changed meanwhile']);
    expect(note.version).toBe(9);
    await overwrite();
    await save();
    expect(told.slice(1)).toEqual(['saved 10', 'saved 11']);
    expect(note.overwritten).toEqual([true, false]);
  });

  it('leaves what is typed during a saving for the next one', async () => {
    const { model, save, note, told, stored } = opened();
    note.meanwhile = () => {
      model.dirty = true;
    };
    await save();
    expect(model.dirty).toBe(true);
    expect(stored()).toEqual({ note: 7, version: 3 });
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
  });

  it('saves once more what was saved during a saving', async () => {
    const { save, note, told } = opened();
    note.meanwhile = () => {
      note.meanwhile = () => undefined;
      void save();
    };
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
  });

  it('saves once more what was saved while the copy was given its note’s version', async () => {
    const { save, saves, told } = opened();
    const again = [() => Promise.resolve(), save];
    saves.push(() => again.shift()?.() ?? Promise.resolve());
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
  });

  it.each([[{}], [null], ['7'], [{ note: '7' }]])('takes %j for no mark', async mark => {
    const { model, save, told } = opened(mark);
    expect(markOf(model)).toBeNull();
    await save();
    expect(told).toEqual([]);
  });
});
