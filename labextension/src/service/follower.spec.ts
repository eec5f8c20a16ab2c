import { CommandFollower } from './follower';
import { ServiceError } from './errors';
import type { ServiceRequests } from './requests';

const RUNNING = { id: 7, status: 'running', progress: 0 };
const DONE = { id: 7, status: 'done', progress: 100 };

interface ISent {
  path: string;
  headers: Record<string, string>;
  query: Record<string, unknown>;
}

/** Gives these answers in order; a text is an event stream, an object a record. */
function service(...answers: (string | object | ServiceError)[]): {
  requests: ServiceRequests;
  sent: ISent[];
} {
  const sent: ISent[] = [];
  const send = (_: string, path: string, options: Partial<ISent>): Promise<Response> => {
    sent.push({ path, headers: options.headers ?? {}, query: options.query ?? {} });
    const answer = answers.shift();
    if (answer instanceof ServiceError) {
      return Promise.reject(answer);
    }
    const isStream = typeof answer === 'string' && path.endsWith('events');
    const text = typeof answer === 'object' ? JSON.stringify(answer) : (answer ?? '');
    const headers = {
      'Content-Type': isStream ? 'text/event-stream' : 'text/plain',
      err_length: String(text.length)
    };
    return Promise.resolve(new Response(text, { headers }));
  };
  const get = async (path: string): Promise<unknown> => (await send('GET', path, {})).json();
  return { requests: { send, get } as unknown as ServiceRequests, sent };
}

function event(name: string, data: unknown, id = 0): string {
  return `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
}

function following(requests: ServiceRequests): {
  follower: CommandFollower;
  log: string[];
  pauses: number[];
} {
  const pauses: number[] = [];
  const log: string[] = [];
  const pause = (milliseconds: number): Promise<void> => {
    pauses.push(milliseconds);
    return Promise.resolve();
  };
  const follower = new CommandFollower(requests, 7, { withLog: true, pause });
  follower.logged.connect((_, text) => log.push(text));
  return { follower, log, pauses };
}

describe('CommandFollower', () => {
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it('is pushed the record, the progress, the log and the end', async () => {
    const { requests } = service(
      event('status', RUNNING) +
        event('progress', { progress: 40, rows: 12 }) +
        event('log', { offset: 0, end: 6, text: 'first\n' }, 6) +
        event('end', DONE, 6)
    );
    const { follower, log, pauses } = following(requests);
    const seen: (number | undefined)[] = [];
    follower.changed.connect(() => seen.push(follower.command?.progress));
    await follower.finished;
    expect(seen).toEqual([0, 40, 100]);
    expect(follower.rows).toBe(12);
    expect(log).toEqual(['first\n']);
    expect(pauses).toEqual([]);
  });

  it('goes on behind the last byte of the log when the stream broke', async () => {
    const away = new ServiceError('the service does not answer', 503);
    const { requests, sent } = service(
      event('status', RUNNING) + event('log', { text: 'first\n' }, 6),
      away,
      away,
      event('log', { text: 'second\n' }, 13) + event('end', DONE, 13)
    );
    const { follower, log, pauses } = following(requests);
    const errors: (string | undefined)[] = [];
    follower.changed.connect(() => errors.push(follower.error?.message));
    await follower.finished;
    expect(log).toEqual(['first\n', 'second\n']);
    expect(sent.map(({ headers }) => headers['Last-Event-ID'])).toEqual([undefined, '6', '6', '6']);
    expect(pauses).toEqual([1_000, 1_000, 2_000]);
    expect(errors).toContain('the service does not answer');
    expect(follower.error).toBeNull();
  });

  it('reads the rest of the log of an ended command whose stream ended too early', async () => {
    const { requests, sent } = service(
      event('status', DONE) + event('log', { text: 'first\n' }, 6),
      event('status', DONE, 6) + event('log', { text: 'last\n' }, 11) + event('end', DONE, 11)
    );
    const { follower, log } = following(requests);
    await follower.finished;
    expect(log).toEqual(['first\n', 'last\n']);
    expect(sent.map(({ headers }) => headers['Last-Event-ID'])).toEqual([undefined, '6']);
  });

  it('asks again and again where a service sends no events', async () => {
    const { requests, sent } = service(
      new ServiceError('not here', 404),
      RUNNING,
      'first\n',
      DONE,
      ''
    );
    const { follower, log, pauses } = following(requests);
    await follower.finished;
    expect(follower.command).toMatchObject(DONE);
    expect(log).toEqual(['first\n']);
    expect(sent.map(({ path }) => path).slice(1)).toEqual([
      'commands/7',
      'commands/7/logs',
      'commands/7',
      'commands/7/logs'
    ]);
    expect(sent[4]?.query).toEqual({ err_file_processed: 6, tmp_file_processed: 0 });
    expect(pauses).toEqual([2_000]);
  });

  it('reads lengths as those of what follows, and ended work once', async () => {
    const answers: [string, string, string | Uint8Array][] = [
      ['0', '3', 'abc'],
      ['5', '2', 'abcdefg'],
      ['0', '0', ''],
      ['3', '0', new Uint8Array([0x66, 0x67, 0xc3])],
      ['1', '0', new Uint8Array([0xbc])]
    ];
    const queries: object[] = [];
    const send = (_: string, path: string, { query }: Partial<ISent>): Promise<Response> => {
      const next = path.endsWith('/logs') ? answers.shift() : undefined;
      if (next === undefined) {
        return Promise.reject(new ServiceError('not here', 404));
      }
      queries.push(Object.values(query ?? {}));
      const headers = { err_length: next[0], tmp_length: next[1] };
      return Promise.resolve(new Response(next[2] as BodyInit, { headers }));
    };
    const get = (): Promise<object> => Promise.resolve(answers.length > 1 ? RUNNING : DONE);
    const { follower, log } = following({ send, get } as unknown as ServiceRequests);
    await follower.finished;
    expect(log).toEqual(['abc', 'defg', 'ü']);
    expect(queries).toEqual([
      [0, 0],
      [0, 3],
      [5, 2],
      [5, 2],
      [8, 0]
    ]);
  });

  it('gives up on a command that is not there, and says why', async () => {
    const missing = new ServiceError('there is no command 7', 404);
    const { requests, sent } = service(missing, missing);
    const { follower } = following(requests);
    await follower.finished;
    expect(follower.error?.message).toBe('there is no command 7');
    expect(sent).toHaveLength(2);
  });

  it('ends when nobody looks any more', async () => {
    const { requests } = service();
    jest.spyOn(requests, 'send').mockImplementation(
      (_method, _path, options) =>
        new Promise((_, reject) => {
          options?.signal?.addEventListener('abort', () =>
            reject(new DOMException('aborted', 'AbortError'))
          );
        })
    );
    const { follower } = following(requests);
    follower.dispose();
    await follower.finished;
    expect(follower.error).toBeNull();
  });

  it('skips what it cannot show of a log that grows very fast, and then goes on at its end', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0); // all of it arrives within one pause
    const flood = 'x'.repeat(200_000);
    const parts = [1, 2, 3, 4].map(number => event('log', { text: flood }, number * flood.length));
    const sent: ISent[] = [];
    const streams = [
      event('status', RUNNING) + parts.join(''),
      event('log', { text: 'the end\n' }, 10_000_008) + event('end', DONE, 10_000_008)
    ];
    const send = (_: string, path: string, options: Partial<ISent>): Promise<Response> => {
      sent.push({ path, headers: options.headers ?? {}, query: options.query ?? {} });
      return Promise.resolve(
        path.endsWith('events')
          ? new Response(streams.shift(), { headers: { 'Content-Type': 'text/event-stream' } })
          : new Response('', { headers: { err_length: '0', log_length: '10000000' } })
      );
    };
    const { follower, log, pauses } = following({ send } as unknown as ServiceRequests);
    let skips = 0;
    follower.skipped.connect(() => skips++);
    await follower.finished;
    expect(log).toEqual([flood, flood, flood, 'the end\n']);
    expect(skips).toBe(1);
    expect(pauses).toHaveLength(1);
    expect(sent.at(-1)?.headers['Last-Event-ID']).toBe(String(10_000_000 - 128 * 1024));
    expect(follower.command?.status).toBe('done');
  });
});
