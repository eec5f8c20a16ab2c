import { Resource } from './resource';
import { ServiceError } from './errors';

const SECOND = 1_000;

describe('Resource', () => {
  let answers: (() => Promise<unknown>)[];
  let signals: AbortSignal[];
  let resource: Resource<unknown>;

  beforeEach(() => {
    jest.useFakeTimers();
    answers = [];
    signals = [];
    resource = new Resource({
      name: 'test',
      interval: 5 * SECOND,
      fetch: signal => {
        signals.push(signal);
        return (answers.shift() ?? (() => Promise.resolve({ n: 1 })))();
      }
    });
  });

  afterEach(() => {
    resource.dispose();
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

  const pass = (milliseconds: number): Promise<void> => jest.advanceTimersByTimeAsync(milliseconds);
  const fails = (status: number): (() => Promise<never>) => {
    return () => Promise.reject(new ServiceError('away', status));
  };

  it('asks nothing while nobody watches, however long', async () => {
    await pass(3_600 * SECOND);
    expect(signals).toHaveLength(0);
  });

  it('asks at once, then by its interval, and stops with the last watch', async () => {
    const one = resource.watch();
    const other = resource.watch();
    await pass(1);
    expect(signals).toHaveLength(1);
    await pass(10 * SECOND);
    expect(signals).toHaveLength(3);
    one.dispose();
    await pass(5 * SECOND);
    expect(signals).toHaveLength(4);
    other.dispose();
    await pass(3_600 * SECOND);
    expect(signals).toHaveLength(4);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('asks nothing while the page of the browser is hidden', async () => {
    const hidden = jest.spyOn(document, 'hidden', 'get').mockReturnValue(true);
    const watch = resource.watch();
    await pass(600 * SECOND);
    expect(signals).toHaveLength(0);
    hidden.mockReturnValue(false);
    await pass(5 * SECOND);
    expect(signals).toHaveLength(1);
    watch.dispose();
  });

  it('keeps the last value beside a failure, asks more and more rarely, and recovers', async () => {
    const watch = resource.watch();
    await pass(1);
    answers = Array.from({ length: 50 }, () => fails(503));
    await pass(3_600 * SECOND);
    const failures = signals.length - 1;
    expect(failures).toBeGreaterThan(10);
    expect(failures).toBeLessThan(600); // of 720 at its normal interval; the pauses are random
    expect(resource.state).toMatchObject({ value: { n: 1 } });
    answers = [];
    await pass(70 * SECOND);
    expect(resource.state.error).toBeUndefined();
    watch.dispose();
  });

  it('tells a failure in the words of the service', async () => {
    answers = [fails(503)];
    const watch = resource.watch();
    await pass(1);
    expect(resource.state.error?.message).toBe('away');
    expect(resource.state.isLoading).toBe(false);
    watch.dispose();
  });

  it('keeps the value that is equal to what it had', async () => {
    const watch = resource.watch();
    await pass(1);
    const before = resource.state.value;
    await pass(5 * SECOND);
    expect(signals).toHaveLength(2);
    expect(resource.state.value).toBe(before);
    watch.dispose();
  });

  it('lets a reading go that nobody waits for any more', async () => {
    answers = [() => new Promise(() => undefined)];
    const watch = resource.watch();
    await pass(1);
    watch.dispose();
    expect(signals[0]?.aborted).toBe(true);
    expect(resource.state.error).toBeUndefined();
  });

  it('reads anew on request, also while an older reading is under way, whose answer no longer counts', async () => {
    let answerLate: (value: unknown) => void = () => undefined;
    answers = [() => new Promise(resolve => (answerLate = resolve)), () => Promise.resolve('new')];
    const watch = resource.watch();
    await pass(1);
    void resource.refresh();
    await pass(1);
    answerLate('old');
    await pass(1);
    expect(signals).toHaveLength(2);
    expect(resource.state.value).toBe('new');
    watch.dispose();
  });

  it('holds no more after an hour of polling than after a minute', async () => {
    const watch = resource.watch();
    await pass(60 * SECOND);
    const timers = jest.getTimerCount();
    await pass(3_600 * SECOND);
    expect(jest.getTimerCount()).toBe(timers);
    expect(signals.length).toBeGreaterThan(700);
    watch.dispose();
  });
});
