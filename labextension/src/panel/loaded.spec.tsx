import { nullTranslator } from '@jupyterlab/translation';
import { act } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { Loaded, loadedOnce } from './loaded';

const GONE = new Error('ChunkLoadError');

describe('loadedOnce', () => {
  it('shares one load', async () => {
    const load = jest.fn(() => Promise.resolve({}));
    const loaded = loadedOnce(load);
    expect(await loaded()).toBe(await loaded());
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('loads again after a failure', async () => {
    const load = jest.fn(() => Promise.resolve('code')).mockRejectedValueOnce(GONE);
    const loaded = loadedOnce(load);
    await expect(Promise.allSettled([loaded(), loaded()])).resolves.toMatchObject([
      { reason: GONE },
      { reason: GONE }
    ]);
    expect(await loaded()).toBe('code');
    expect(load).toHaveBeenCalledTimes(2);
  });
});

describe('Loaded', () => {
  let host: HTMLElement;
  let root: Root;

  beforeEach(() => {
    host = document.body.appendChild(document.createElement('div'));
    root = createRoot(host);
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
  });

  afterEach(() => {
    act(() => {
      root.unmount();
    });
    host.remove();
    jest.restoreAllMocks();
  });

  async function show(load: () => Promise<string>): Promise<void> {
    const trans = nullTranslator.load('');
    await act(async () => {
      root.render(
        <Loaded load={load} trans={trans}>
          {text => <p>{text}</p>}
        </Loaded>
      );
      await Promise.resolve();
    });
  }

  it('shows what was loaded', async () => {
    await show(() => Promise.resolve('the section'));
    expect(host.textContent).toBe('the section');
  });

  it('offers to load again where the code did not come, and shows it then', async () => {
    const load = jest
      .fn(() => Promise.resolve('the section'))
      .mockRejectedValueOnce(GONE)
      .mockRejectedValueOnce(GONE);
    await show(load);
    for (const attempts of [1, 2]) {
      expect(load).toHaveBeenCalledTimes(attempts);
      expect(host.querySelector('[role="alert"]')?.textContent).toBe(
        'The Jupyter server did not send this part.Try again'
      );
      await act(async () => {
        host.querySelector('button')?.click();
        await Promise.resolve();
      });
    }
    expect(host.textContent).toBe('the section');
    expect(console.error).toHaveBeenCalledWith(GONE);
  });
});
