import { ServerConnection } from '@jupyterlab/services';
import { pathOf, ServiceRequests } from './requests';

function requests(answer: () => Promise<Response>): { calls: ServiceRequests; sent: Request[] } {
  const sent: Request[] = [];
  const fetch = (request: RequestInfo | URL): Promise<Response> => {
    sent.push(request as Request);
    return answer();
  };
  const settings = ServerConnection.makeSettings({
    baseUrl: 'http://hub.test/user/ann/',
    fetch,
    token: ''
  });
  return { calls: new ServiceRequests(settings), sent };
}

const json = (body: unknown, status = 200): Promise<Response> =>
  Promise.resolve(new Response(JSON.stringify(body), { status }));

describe('ServiceRequests', () => {
  it('asks below the server’s own address, leaving out what is not given', async () => {
    const { calls, sent } = requests(() => json({ commands: [] }));
    await calls.get('commands', { name: 'a b', status: '', page: 1, label: null });
    const address = 'http://hub.test/user/ann/svc-jupyter/api/commands?name=a+b&page=1';
    expect(sent[0]?.url.startsWith(address)).toBe(true); // Lab appends the time, against caches
    expect(sent[0]?.method).toBe('GET');
  });

  it('sends bodies as JSON', async () => {
    const { calls, sent } = requests(() => json({}));
    await calls.put('commands/7', { status: 'kill' });
    expect(await sent[0]?.json()).toEqual({ status: 'kill' });
    expect(sent[0]?.headers.get('Content-Type')).toBe('application/json');
  });

  it('fails in the words of the service', async () => {
    const { calls } = requests(() =>
      json({ error: { error_code: 404, error_message: 'no command 7' } }, 404)
    );
    await expect(calls.get('commands/7')).rejects.toMatchObject({
      message: 'no command 7',
      status: 404
    });
  });

  it('fails in the words of Jupyter where those are all there is', async () => {
    const { calls } = requests(() => json({ message: 'Forbidden' }, 403));
    await expect(calls.get('commands/7')).rejects.toMatchObject({
      message: 'Forbidden',
      status: 403
    });
  });

  it('names the status where the answer says nothing', async () => {
    const { calls } = requests(() =>
      Promise.resolve(new Response('<h1>', { status: 502, statusText: 'Bad Gateway' }))
    );
    await expect(calls.get('status')).rejects.toMatchObject({
      message: '502 Bad Gateway',
      isUnreachable: true
    });
  });

  it('says so when the Jupyter server is away', async () => {
    const { calls } = requests(() => Promise.reject(new TypeError('Failed to fetch')));
    await expect(calls.get('status')).rejects.toMatchObject({
      message: 'the Jupyter server does not answer',
      status: 0,
      isUnreachable: true
    });
  });

  it('is not a failure of the server when it was aborted', async () => {
    const stop = new AbortController();
    stop.abort();
    const { calls } = requests(() => Promise.reject(new DOMException('aborted', 'AbortError')));
    await expect(calls.get('status', {}, stop.signal)).rejects.not.toMatchObject({
      name: 'ServiceError'
    });
  });
});

describe('pathOf', () => {
  it('keeps each name one part of the path', () => {
    expect(pathOf('clusters', '../a b?#', 7)).toBe('clusters/..%2Fa%20b%3F%23/7');
  });
});
