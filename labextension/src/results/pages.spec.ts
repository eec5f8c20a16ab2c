import { ServiceError } from '../service';
import { PagedRows, type ReadRows } from './pages';

interface IRead {
  readonly offset: number;
  readonly signal: AbortSignal;
  answer: () => void;
  fail: () => void;
}

/** Rows by pages of ten, of one column that holds the row's number; each read waits for its answer. */
function paged(columnCount = 1): { pages: PagedRows; reads: IRead[] } {
  const reads: IRead[] = [];
  const read: ReadRows = (offset, limit, signal) =>
    new Promise((resolve, reject) => {
      const rows = Array.from({ length: limit }, (_, index) => [offset + index]);
      reads.push({
        offset,
        signal,
        answer: () => resolve({ columns: [], rows, offset, total: 1e6 }),
        fail: () => reject(new ServiceError('gone', 503))
      });
    });
  return { pages: new PagedRows(read, 10, columnCount), reads };
}

const settled = (): Promise<void> => new Promise(resolve => setTimeout(resolve));
const offsets = (reads: IRead[]): number[] => reads.map(({ offset }) => offset);

describe('PagedRows', () => {
  it('reads the pages of the wanted rows, each once', async () => {
    const { pages, reads } = paged();
    pages.want(5, 21);
    expect(offsets(reads)).toEqual([0, 10, 20]);
    expect(pages.row(12)).toBeUndefined();
    reads.forEach(({ answer }) => answer());
    await settled();
    expect(pages.row(12)).toEqual([12]);
    pages.want(0, 30);
    expect(reads).toHaveLength(3);
  });

  it('aborts what a scroll has left, and reads only where it rests', async () => {
    jest.useFakeTimers();
    try {
      const { pages, reads } = paged();
      pages.want(0, 10);
      pages.want(5000, 5010);
      pages.want(9000, 9010);
      expect(reads[0]?.signal.aborted).toBe(true);
      expect(offsets(reads)).toEqual([0]);
      await jest.runAllTimersAsync();
      expect(offsets(reads)).toEqual([0, 9000]);
    } finally {
      jest.useRealTimers();
    }
  });

  it('asks no more after a failure until it is told to', async () => {
    const { pages, reads } = paged();
    pages.want(0, 10);
    reads[0]?.fail();
    await settled();
    expect(pages.error?.message).toBe('gone');
    pages.want(0, 20);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(reads).toHaveLength(1);
    pages.retry();
    expect(pages.error).toBeNull();
    expect(offsets(reads)).toEqual([0, 0, 10]);
  });

  it('forgets the pages used longest ago, but never those that are wanted', async () => {
    const { pages } = paged(1e9);
    pages.want(0, 10);
    for (let page = 0; page < 20; page++) {
      pages.keep(page, [[page]]);
    }
    await settled();
    expect(pages.kept).toBe(6);
    expect(pages.row(0)).toEqual([0]);
    expect(pages.row(10)).toBeUndefined();
  });
});
