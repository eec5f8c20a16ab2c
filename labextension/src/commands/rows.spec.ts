import { ServiceError, type ServiceRequests } from '../service';
import { firstRows, SHOWN_ROWS } from './rows';

/** A service that sends a CSV in pieces and reports how many were read. */
function service(
  pieces: string[],
  type = 'text/csv; charset=utf-8'
): { requests: ServiceRequests; taken: () => number } {
  let taken = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: stream => {
        const piece = pieces[taken++];
        if (piece === undefined) {
          stream.close();
        } else {
          stream.enqueue(new TextEncoder().encode(piece));
        }
      }
    },
    { highWaterMark: 0 }
  );
  const send = (): Promise<Response> =>
    Promise.resolve(new Response(body, { headers: { 'Content-Type': type } }));
  return { requests: { send } as unknown as ServiceRequests, taken: () => taken };
}

const read = (requests: ServiceRequests): ReturnType<typeof firstRows> =>
  firstRows(requests, 7, new AbortController().signal);

describe('firstRows', () => {
  it('reads a small result whole, with quotes, commas and line ends in it', async () => {
    const { requests } = service(['"a","b"\n1,"x, ""y""', '\nz"\n2,\n']);
    expect(await read(requests)).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1', 'x, "y"\nz'],
        ['2', '']
      ],
      isCut: false
    });
  });

  it('stops reading a large one with the last row that is shown', async () => {
    const pieces = Array.from({ length: 1_000 }, (_, piece) =>
      Array.from({ length: 100 }, (_row, row) => `${piece * 100 + row}\n`).join('')
    );
    const { requests, taken } = service(['"n"\n', ...pieces]);
    const table = await read(requests);
    expect(table?.rows).toHaveLength(SHOWN_ROWS);
    expect(table?.rows.at(-1)).toEqual(['999']);
    expect(table?.isCut).toBe(true);
    expect(taken()).toBeLessThan(15);
  });

  it('stops reading few but huge rows, and shows none by half', async () => {
    const row = `"${'x'.repeat(999_990)}"\n`;
    const { requests, taken } = service(['"t"\n', ...Array.from({ length: 100 }, () => row)]);
    const table = await read(requests);
    expect(table?.isCut).toBe(true);
    expect(table?.rows.every(([text]) => text?.length === 999_990)).toBe(true);
    expect(taken()).toBeLessThan(10);
  });

  it('is null where a command has a text and no rows', async () => {
    const refusal = new ServiceError('command 7 has no rows', 422);
    const send = (): Promise<Response> => Promise.reject(refusal);
    expect(await read({ send } as unknown as ServiceRequests)).toBeNull();
    expect(await read(service(['{}'], 'application/json').requests)).toBeNull();
  });

  it('fails as the service does otherwise', async () => {
    const send = (): Promise<Response> => Promise.reject(new ServiceError('gone', 410));
    await expect(read({ send } as unknown as ServiceRequests)).rejects.toThrow('gone');
  });
});
