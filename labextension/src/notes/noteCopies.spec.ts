import type { ServiceRequests } from '../service';
import { ServiceError } from '../service';
import { type ISaving, noteOf, NoteCopy } from './noteCopies';

/** A Jupyter server that knows which copies have which version of note 7. */
class Server {
  version = 3;
  known: number | null = 3;
  allowed = true;
  readonly asked: ISaving[] = [];
  /** A concurrent change during a save. */
  meanwhile: () => void = () => undefined;

  put = (_: string, { overwrite, bind }: ISaving): Promise<unknown> => {
    this.asked.push({ ...(overwrite && { overwrite }), ...(bind !== undefined && { bind }) });
    this.meanwhile();
    if (bind !== undefined) {
      this.allowed = bind;
      this.known = this.version;
    }
    if (this.known === null) {
      return Promise.reject(new ServiceError('late.ipynb says it is a copy of Common/late', 428));
    }
    if (!this.allowed) {
      return Promise.resolve({ saved: false });
    }
    if (!overwrite && this.known !== this.version) {
      return Promise.reject(new ServiceError('note 7 was changed meanwhile', 409));
    }
    this.version += 1;
    this.known = this.version;
    return Promise.resolve({ id: 7, name: 'late', location: 'Common', version: this.version });
  };
}

function opened(mark: unknown = { note: 7, key: 'k' }) {
  const model = { getMetadata: () => mark };
  const server = new Server();
  const told: string[] = [];
  let overwrite: () => Promise<void> = () => Promise.resolve();
  let answer: (bind: boolean) => Promise<void> = () => Promise.resolve();
  const copy = new NoteCopy(server as unknown as ServiceRequests, model, () => 'late.ipynb', {
    saved: one => told.push(`saved ${one.version}`),
    asked: (question, take) => {
      told.push(question.message);
      answer = take;
    },
    refused: (error, _, all) => {
      told.push(error.message);
      overwrite = all;
    }
  });
  const save = (): Promise<boolean> => copy.onSaved();
  return {
    copy,
    model,
    save,
    server,
    told,
    overwrite: () => overwrite(),
    answer: (bind: boolean) => answer(bind)
  };
}

describe('NoteCopy', () => {
  it('saves a copy back each time it is saved', async () => {
    const { save, told } = opened();
    await save();
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
  });

  it('overwrites what somebody else wrote only when it is told to', async () => {
    const { copy, save, server, told, overwrite } = opened();
    server.version = 9;
    expect(await copy.refused).toBe(false);
    await save();
    expect(told).toEqual(['note 7 was changed meanwhile']);
    expect(server.version).toBe(9);
    expect(await copy.refused).toBe(true);
    await overwrite();
    expect(await copy.refused).toBe(false);
    await save();
    expect(told.slice(1)).toEqual(['saved 10', 'saved 11']);
    expect(server.asked).toEqual([{}, { overwrite: true }, {}]);
  });

  it('saves once more what was saved during a saving', async () => {
    const { save, server, told } = opened();
    server.meanwhile = () => {
      server.meanwhile = () => undefined;
      void save();
    };
    await save();
    expect(told).toEqual(['saved 4', 'saved 5']);
  });

  it('tells whether the note has what was saved last', async () => {
    const { copy, save, server } = opened();
    expect(await copy.settled).toBe(false);
    void save();
    expect(await copy.settled).toBe(true);
    server.version = 9;
    expect(await save()).toBe(false);
    expect(await copy.settled).toBe(false);
  });

  it('asks once about a notebook from elsewhere, and saves it when that is wanted', async () => {
    const { save, server, told, answer } = opened();
    server.known = null;
    await save();
    await save();
    expect(told).toEqual(['late.ipynb says it is a copy of Common/late']);
    expect(server.version).toBe(3);
    await answer(true);
    await save();
    expect(told.slice(1)).toEqual(['saved 4', 'saved 5']);
  });

  it('leaves the note alone when a notebook from elsewhere is to stay here', async () => {
    const { save, server, told, answer } = opened();
    server.known = null;
    await save();
    await answer(false);
    await save();
    expect(told).toHaveLength(1);
    expect(server.version).toBe(3);
  });

  it.each([[{}], [null], ['7'], [{ note: '7' }]])('takes %j for no mark', async mark => {
    const { model, save, told } = opened(mark);
    expect(noteOf(model)).toBeNull();
    await save();
    expect(told).toEqual([]);
  });
});
