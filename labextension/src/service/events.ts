import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { ServiceError } from './errors';
import type { ServiceRequests } from './requests';

/** One server-sent event, its data parsed. */
export interface IServiceEvent {
  event: string;
  id: string;
  data: unknown;
}

/**
 * Yield the events of a stream as they arrive, until the server ends it.
 *
 * It uses `fetch` because `EventSource` cannot send the Jupyter token in a header. Throws `ServiceError` when there is
 * no such stream; resumes after `lastEventId`.
 */
export async function* serviceEvents(
  requests: ServiceRequests,
  path: string,
  signal: AbortSignal,
  lastEventId = ''
): AsyncGenerator<IServiceEvent> {
  const headers = {
    Accept: 'text/event-stream',
    ...(lastEventId !== '' && { 'Last-Event-ID': lastEventId })
  };
  const answer = await requests.send('GET', path, { signal, headers });
  if (
    answer.body === null ||
    !(answer.headers.get('Content-Type') ?? '').startsWith('text/event-stream')
  ) {
    throw new ServiceError('this service sends no events', 406);
  }
  const arrived: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: event => arrived.push(event) });
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      parser.feed(decoder.decode(value, { stream: true }));
      for (const { event, id, data } of arrived.splice(0)) {
        yield { event: event ?? 'message', id: id ?? '', data: JSON.parse(data) as unknown };
      }
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
