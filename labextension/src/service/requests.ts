import { URLExt } from '@jupyterlab/coreutils';
import { ServerConnection } from '@jupyterlab/services';
import { errorFromAnswer, ServiceError } from './errors';

/** Values of a query string; undefined, null and empty ones are omitted. */
export type Query = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** Options of a call. */
export interface ICallOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  signal?: AbortSignal;
  headers?: Readonly<Record<string, string>>;
}

/**
 * Calls of the server extension, under `<base_url>svc-jupyter/api/`.
 *
 * Every method rejects with `ServiceError`; an aborted call rejects with the signal's `AbortError`.
 */
export class ServiceRequests {
  constructor(readonly settings: ServerConnection.ISettings = ServerConnection.makeSettings()) {}

  get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
    return this.json<T>('GET', path, { ...(query && { query }), ...(signal && { signal }) });
  }

  post<T>(path: string, body: unknown = {}): Promise<T> {
    return this.json<T>('POST', path, { body });
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.json<T>('PUT', path, { body });
  }

  patch<T>(path: string, body: unknown): Promise<T> {
    return this.json<T>('PATCH', path, { body });
  }

  delete<T>(path: string, options: Pick<ICallOptions, 'query' | 'body'> = {}): Promise<T> {
    return this.json<T>('DELETE', path, options);
  }

  /** Return the answer's JSON. */
  async json<T>(method: string, path: string, options: ICallOptions = {}): Promise<T> {
    const answer = await this.send(method, path, options);
    try {
      return (await answer.json()) as T;
    } catch (reason) {
      if (options.signal?.aborted) {
        throw reason;
      }
      throw new ServiceError(`the answer to ${method} ${path} is not JSON`, 502);
    }
  }

  /** Return the successful response, for texts, pages and streams. */
  async send(method: string, path: string, options: ICallOptions = {}): Promise<Response> {
    const type = options.body === undefined ? {} : { 'Content-Type': 'application/json' };
    const init: RequestInit = {
      method,
      headers: { ...type, ...options.headers },
      ...(options.signal && { signal: options.signal }),
      ...(options.body !== undefined && { body: JSON.stringify(options.body) })
    };
    let answer: Response;
    try {
      answer = await ServerConnection.makeRequest(
        this.url(path, options.query),
        init,
        this.settings
      );
    } catch (reason) {
      if (options.signal?.aborted) {
        throw reason;
      }
      throw new ServiceError('the Jupyter server does not answer', 0);
    }
    if (!answer.ok) {
      throw errorFromAnswer(answer.status, answer.statusText, await answer.text());
    }
    return answer;
  }

  /** Return the address of a call. Names within `path` must already be encoded (`pathOf`). */
  url(path: string, query: Query = {}): string {
    const given = Object.entries(query).filter(
      ([, value]) => value !== undefined && value !== null && value !== ''
    );
    const parameters = new URLSearchParams(
      given.map(([name, value]) => [name, String(value)])
    ).toString();
    const address = `${URLExt.join(this.settings.baseUrl, 'svc-jupyter/api')}/${path}`;
    return parameters === '' ? address : `${address}?${parameters}`;
  }
}

/** Return a path of names, each encoded: `pathOf('clusters', 'a/b', 'state')`. */
export function pathOf(...names: (string | number)[]): string {
  return names.map(name => encodeURIComponent(String(name))).join('/');
}
