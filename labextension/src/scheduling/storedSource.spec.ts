import type { ServiceRequests } from '../service';
import { StoredSource } from './storedSource';

const FOLDER = 'Users/ann@example.com/Scheduled';

describe('the copy that a schedule runs', () => {
  it('is read where it lies now, not where it lay when the editing began', async () => {
    const get = jest.fn().mockResolvedValue({ content: { cells: [], metadata: {} } });
    const requests = { get } as unknown as ServiceRequests;
    const source = new StoredSource(requests, `${FOLDER}/a-1/report.ipynb`, () =>
      Promise.resolve(`${FOLDER}/a-2/report.ipynb`)
    );
    expect(source.name).toBe('report.ipynb');
    expect(await source.read()).toEqual({ cells: [], metadata: {} });
    const [path] = get.mock.calls[0] as [string];
    expect(decodeURIComponent(path)).toBe(`contents/${FOLDER}/a-2/report.ipynb`);
  });
});
